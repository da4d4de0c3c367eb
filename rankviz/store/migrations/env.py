"""What Alembic runs: the steps, on the connection that `migrate` gave, within its transaction."""

from alembic import context

from rankviz.store.tables import metadata

if hasattr(context, "config"):  # Alembic runs it; whoever imports it only looks
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=metadata,
        render_as_batch=True,
        transactional_ddl=False,
    )
    context.run_migrations()
