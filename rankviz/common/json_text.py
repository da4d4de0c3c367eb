"""JSON objects in texts that users bring."""

from __future__ import annotations

import json
from typing import Any

from rankviz.common.errors import SettingError


def json_object(text: object, what: str) -> dict[str, Any]:
    """Return the object in a JSON text; `SettingError` for all else. `what` names it there: "a run spec"."""
    if not isinstance(text, str | bytes):
        raise SettingError(f"{what} is a JSON text, not {type(text).__name__}")
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SettingError(f"{what} is a JSON object; this text cannot be read ({error})") from error
    if not isinstance(values, dict):
        raise SettingError(f"{what} is a JSON object, not {type(values).__name__}")
    return values
