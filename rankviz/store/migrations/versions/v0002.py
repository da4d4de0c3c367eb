"""Jobs become studies: priority, time limit, and the time and reason of a stop.

Adds each record's size, which bounds the store, and each worker's trouble.
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the columns; existing studies come from sweeps."""
    for column in (
        sa.Column("background", sa.Boolean(), nullable=False, server_default=sa.true()),
        sa.Column("seconds", sa.Double(), nullable=True),
        sa.Column("worked", sa.Double(), nullable=False, server_default="0"),
        sa.Column("changed", sa.Double(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False, server_default=""),
    ):
        op.add_column("studies", column)
    op.add_column("workers", sa.Column("trouble", sa.Text(), nullable=False, server_default=""))
    op.add_column("runs", sa.Column("size", sa.Integer(), nullable=False, server_default="0"))
    op.execute(
        "UPDATE runs SET size = (SELECT length(content) FROM records WHERE run = runs.id)"
        " WHERE id IN (SELECT run FROM records)"
    )
