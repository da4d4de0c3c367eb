"""The place of each study and worker, and the dispatchers' view of their cluster."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the columns; existing studies belong to one machine's worker processes."""
    for table in ("studies", "workers"):
        op.add_column(table, sa.Column("place", sa.String(9), nullable=False, server_default="here"))
    op.add_column("workers", sa.Column("told", sa.Text(), nullable=False, server_default=""))
