# SPDX-License-Identifier: MIT
"""Which activation does a policy of Stable-Baselines3 have?

The member ``data`` of its ``.zip`` is JSON. Settings that JSON cannot hold are there as pickles in base64, and beside
each pickle their entries stand as text, such as ``<class 'torch.nn.modules.activation.ReLU'>``. Only the text is read;
no pickle is opened. If ``policy_kwargs`` do not have ``activation_fn``, the policy's class has its default: tanh in
A2C and PPO, ReLU in the others. The class is known by its module. Classes of users may have any default. Actors of SAC
and TQC with ``use_sde`` clip their mean at the end, by ``clip_mean``, which is 2 by default. Actors of SAC, TQC, CrossQ
and TD3 end with tanh, and those of A2C and PPO with ``use_sde`` and ``squash_output``.
Source: the sources of stable-baselines3 2.9.2 and sb3-contrib, and files that they wrote.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from regions.errors import NotACheckpointError
from regions.files import limits
from regions.files.json_objects import parsed_object
from regions.files.opened import OpenedFile
from regions.ground.text.printable import printable
from regions.read.chains.stated_activation import Statement, statement_of

__all__ = ["statements_of_policy"]

_SETTINGS = "data"
# All policies in a module have the same default.
_DEFAULTS = {
    "stable_baselines3.common.policies": "tanh",
    "stable_baselines3.dqn.policies": "relu",
    "stable_baselines3.sac.policies": "relu",
    "stable_baselines3.td3.policies": "relu",
    "sb3_contrib.ars.policies": "relu",
    "sb3_contrib.common.maskable.policies": "tanh",
    "sb3_contrib.common.recurrent.policies": "tanh",
    "sb3_contrib.crossq.policies": "relu",
    "sb3_contrib.qrdqn.policies": "relu",
    "sb3_contrib.tqc.policies": "relu",
}
_CLIPPED = {"stable_baselines3.sac.policies", "sb3_contrib.tqc.policies"}
_SQUASHED = {*_CLIPPED, "stable_baselines3.td3.policies", "sb3_contrib.crossq.policies"}


def statements_of_policy(file: OpenedFile) -> Sequence[Statement]:
    """Return what the settings say about the activations: at most one statement for the layers, then those for the end.

    Raises
    ------
    NotACheckpointError
        The settings are not JSON, or are larger than is read.
    """
    archive = file.archive
    assert archive is not None
    if _SETTINGS not in archive.sizes:
        return ()
    advice = "unpack the archive and load policy.pth, which states no activation"
    if archive.sizes[_SETTINGS] > limits.MAX_JSON_BYTES:
        raise NotACheckpointError(
            f"{file.name}: its settings, {_SETTINGS}, have {archive.sizes[_SETTINGS]} bytes, and at most "
            f"{limits.MAX_JSON_BYTES} are read; {advice}"
        )
    try:
        settings = parsed_object(archive.read(_SETTINGS), f"{file.name}: {_SETTINGS}")
    except NotACheckpointError as error:
        raise NotACheckpointError(f"{error}; {advice}") from None
    kind = settings.get("policy_class")
    module = kind.get("__module__") if isinstance(kind, dict) else None
    given = settings.get("policy_kwargs")
    given = given if isinstance(given, dict) else {}
    found = [_of_layers(given, kind, module)]
    if isinstance(module, str):
        found += [_clip(settings, given, module), _squashing(settings, given, kind, module)]
    return [one for one in found if one is not None]


def _of_layers(given: dict[str, Any], kind: Any, module: Any) -> Statement | None:
    """Return what the settings say about the activation between the layers."""
    if "activation_fn" in given:
        return statement_of("policy_kwargs.activation_fn", given["activation_fn"])
    if not isinstance(module, str):
        return None
    if module not in _DEFAULTS:
        return Statement("policy_class", f"a class of {printable(module)} without activation_fn", None)
    return statement_of(f"the default of {_class_name(kind)}", _DEFAULTS[module])


def _clip(settings: dict[str, Any], given: dict[str, Any], module: str) -> Statement | None:
    """Return how the mean of the actor is clipped."""
    limit = given.get("clip_mean", 2.0)
    if module not in _CLIPPED or not isinstance(limit, (int, float)) or not limit > 0:
        return None
    if not _uses_sde(settings, given):
        return None
    return statement_of("clip_mean of the actor", f"hard_tanh({-limit!r}, {limit!r})", at_end=True)


def _squashing(settings: dict[str, Any], given: dict[str, Any], kind: Any, module: str) -> Statement | None:
    """Return whether the actor ends with tanh."""
    asked = given.get("squash_output") is True and _DEFAULTS.get(module) == "tanh" and _uses_sde(settings, given)
    if module not in _SQUASHED and not asked:
        return None
    return statement_of(f"the actor of {_class_name(kind)}", "tanh", at_end=True)


def _uses_sde(settings: dict[str, Any], given: dict[str, Any]) -> bool:
    return settings.get("use_sde") is True or given.get("use_sde") is True


def _class_name(kind: dict[str, object]) -> str:
    """Return the name of the policy's class, which its constructor has; or else its module."""
    match = re.match(r"<function (\w{1,100})\.__init__ at ", str(kind.get("__init__", ""))[:200])
    return match[1] if match else printable(kind.get("__module__"))
