"""Imported runs are apart from those that were made here, and name the spec that they claim to be of.

What was imported before cannot be told from what was made here, and stays as it is.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the column."""
    op.add_column("runs", sa.Column("stands_for", sa.String(16), nullable=True))
