"""Alembic's entry point: runs the steps on the connection of `migrate`, within its transaction."""

from alembic import context

from rankviz.store.tables import metadata

if hasattr(context, "config"):  # only Alembic sets it, not an import
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=metadata,
        render_as_batch=True,
        transactional_ddl=False,
    )
    context.run_migrations()
