"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "metric_sets",
        sa.Column("id", ID, nullable=False),
        sa.Column("names", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_metric_sets")),
        sa.UniqueConstraint("names", name=op.f("uq_metric_sets_names")),
    )
    op.create_table(
        "workers",
        sa.Column("id", sa.String(length=80), nullable=False),
        sa.Column("process", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("until", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_workers")),
    )
    op.create_table(
        "runs",
        sa.Column("id", ID, nullable=False),
        sa.Column("digest", sa.String(length=16), nullable=False),
        sa.Column("spec", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=9), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("family", ID, nullable=True),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("ended", sa.Double(), nullable=True),
        sa.Column("seconds", sa.Double(), nullable=True),
        sa.Column("status", sa.Text(), nullable=True),
        sa.Column("metric_set", ID, nullable=True),
        sa.Column("means", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(["metric_set"], ["metric_sets.id"], name=op.f("fk_runs_metric_set")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
        sa.UniqueConstraint("digest", name=op.f("uq_runs_digest")),
    )
    op.create_index(op.f("ix_runs_family"), "runs", ["family"], unique=False)
    op.create_index(op.f("ix_runs_state"), "runs", ["state"], unique=False)
    op.create_table(
        "marks",
        sa.Column("owner", sa.String(length=80), nullable=False),
        sa.Column("run", ID, nullable=False),
        sa.Column("since", sa.Double(), nullable=False),
        sa.Column("star", sa.Boolean(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("shared", sa.Boolean(), nullable=False),
        sa.Column("deleted", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name=op.f("fk_marks_run"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("owner", "run", name=op.f("pk_marks")),
    )
    op.create_index("ix_marks_run", "marks", ["run"], unique=False)
    op.create_table(
        "records",
        sa.Column("run", ID, nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name=op.f("fk_records_run"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run", name=op.f("pk_records")),
    )
    op.create_table(
        "studies",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("owner", sa.String(length=80), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("design", sa.Text(), nullable=False),
        sa.Column("roots", sa.Text(), nullable=False),
        sa.Column("asked", sa.String(length=9), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("threads", sa.Integer(), nullable=False),
        sa.Column("shared", sa.Boolean(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("baseline", ID, nullable=True),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("deleted", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(
            ["baseline"], ["runs.id"], name=op.f("fk_studies_baseline"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_studies")),
    )
    op.create_index(op.f("ix_studies_owner"), "studies", ["owner"], unique=False)
    op.create_table(
        "tags",
        sa.Column("owner", sa.String(length=80), nullable=False),
        sa.Column("run", ID, nullable=False),
        sa.Column("tag", sa.String(length=80), nullable=False),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name=op.f("fk_tags_run"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("owner", "run", "tag", name=op.f("pk_tags")),
    )
    op.create_table(
        "families",
        sa.Column("id", ID, nullable=False),
        sa.Column("study", sa.String(length=32), nullable=False),
        sa.Column("done", sa.Boolean(), nullable=False),
        sa.Column("worker", sa.String(length=80), nullable=True),
        sa.Column("until", sa.Double(), nullable=True),
        sa.Column("since", sa.Double(), nullable=True),
        sa.Column("waits", sa.Double(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("progress", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["study"], ["studies.id"], name=op.f("fk_families_study"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_families")),
    )
    op.create_index("ix_families_study", "families", ["study", "done", "waits"], unique=False)
    op.create_index("ix_families_worker", "families", ["worker"], unique=False)
    op.create_table(
        "members",
        sa.Column("study", sa.String(length=32), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("run", ID, nullable=False),
        sa.Column("family", ID, nullable=True),
        sa.ForeignKeyConstraint(["family"], ["families.id"], name=op.f("fk_members_family")),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name=op.f("fk_members_run")),
        sa.ForeignKeyConstraint(["study"], ["studies.id"], name=op.f("fk_members_study"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("study", "position", name=op.f("pk_members")),
    )
    op.create_index(op.f("ix_members_family"), "members", ["family"], unique=False)
    op.create_index(op.f("ix_members_run"), "members", ["run"], unique=False)
