"""What pages wait for is a study too: who goes first, how long it may work, when it was stopped and why.

The size of every record, by which the size of the store is known and bounded; what troubles a worker.
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the columns; what there is was asked for by sweeps."""
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
