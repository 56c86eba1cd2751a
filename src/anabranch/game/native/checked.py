"""What Numba does not check, found where types are known: sizes get a check of ours, the rest is refused."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np
from numba.core import cgutils, ir, types
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.errors import UnsupportedError
from numba.core.ir_utils import build_definitions, mk_unique_var
from numba.extending import intrinsic

from anabranch.game.native.instance import Instance
from anabranch.game.native.reachable import is_known
from anabranch.game.native.unchecked import DELETE, FIELD, FLAT, HANDED, OUT, READ_ONLY, TAKE, TRANSPOSE, refusal

_IN_PLACE = (
    *(operator.iadd, operator.iand, operator.ifloordiv, operator.ilshift, operator.imod),
    *(operator.imul, operator.ior, operator.ipow, operator.irshift, operator.isub, operator.itruediv, operator.ixor),
)
_ITEMS = (operator.getitem, operator.setitem, operator.delitem)
_CHOOSING = (np.take, np.delete, np.isneginf, np.isposinf)  # checked or not, depending on what they are given
_TRANSPOSING = (np.transpose, *((np.permute_dims,) if hasattr(np, "permute_dims") else ()))  # one axis twice overlaps
_VIEWS = (np.ascontiguousarray, np.asfortranarray, np.fill_diagonal)  # these forget that an array is read-only


@register_pass(mutates_CFG=False, analysis_only=False)
class Checked(FunctionPass):  # type: ignore[misc]
    """Refuse indices that nobody checks, writing to what is read-only, and implementations nobody follows.

    `array += other` and `np.add(array, other, array)` run over the array's shape, whatever the other's is. So shapes
    are compared before them.
    """

    _name = "anabranch_checked"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Do it for one function; say whether anything changed."""
        changed = False
        ours = str(state.func_id.modname).startswith("anabranch.game.")  # `ab.copy` knows where its indices end
        for block in state.func_ir.blocks.values():
            body: list[Any] = []
            for statement in block.body:
                reason = _refused(statement, state, ours)
                if reason:
                    raise UnsupportedError(reason, statement.loc)
                for target, operand in _sizes(statement, state):
                    body += _comparison(target, operand, block.scope, state)
                    changed = True
                body.append(statement)
            block.body = body
        if changed:
            state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return changed


def _refused(statement: Any, state: Any, ours: bool) -> str | None:
    """Return why a statement is refused, None if it may stand."""
    kinds = state.typemap
    if isinstance(statement, (ir.SetAttr, ir.SetItem, ir.StaticSetItem)):
        target, given = kinds[statement.target.name], kinds[statement.value.name]
        name = getattr(statement, "attr", getattr(statement, "index", None))
        if isinstance(target, types.Record) and isinstance(name, str) and name in target.fields:
            field = target.fields[name].type
            if isinstance(field, types.NestedArray) and field != given:
                return refusal(FIELD)
        return _refused_write(target, ours)
    value = statement.value if isinstance(statement, ir.Assign) else None
    if isinstance(value, ir.Expr) and value.op in ("getitem", "static_getitem"):
        is_flat = isinstance(kinds[value.value.name], types.NumpyFlatType)
        return refusal(FLAT) if is_flat and not ours else None
    if isinstance(value, ir.Expr) and value.op == "call":
        return _refused_call(kinds[value.func.name], state.calltypes[value])
    return None


def _refused_write(target: Any, ours: bool) -> str | None:
    """Return why nothing is written to a target, None if it may be."""
    if isinstance(target, Instance):
        return READ_ONLY
    if isinstance(target, types.NumpyFlatType):
        return READ_ONLY if not target.array_type.mutable else None if ours else refusal(FLAT)
    if isinstance(target, types.Array) and target.ndim == 0:
        return "an array without axes may be a view of one that is read-only; index the array itself"
    return None


def _refused_call(function: Any, signature: Any) -> str | None:
    """Return why a call is refused, None if it may be made."""
    if isinstance(function, types.Dispatcher):
        return None  # compiled as this is
    key = _key(function)
    templates = (*getattr(function, "templates", ()), getattr(function, "template", None))
    for template in templates:
        written = getattr(template, "_overload_func", None)
        module = getattr(written, "__module__", None)  # None: made by Numba from text
        if written is not None and module is not None and not is_known(module):
            return f"{module}.{written.__qualname__} is an @overload, which Numba compiles apart"
    for handed in signature.args:
        if isinstance(handed, types.BoundFunction) or isinstance(_key(handed), np.ufunc):
            return refusal(HANDED)
        if _is_one(_key(handed), (*_IN_PLACE, *_ITEMS, *_CHOOSING)):
            return refusal(HANDED)
    if key is np.take and _given(signature.args[2:]):
        return refusal(TAKE)
    if _is_one(key, _TRANSPOSING) and _given(signature.args[1:]):
        return refusal(TRANSPOSE)
    if key == "array.transpose" and _given(signature.args):
        return refusal(TRANSPOSE)
    if key == (types.Array, "take") and _given(signature.args[1:]):
        return refusal(TAKE)
    if key is np.delete and not isinstance(signature.args[1], (types.Integer, types.SliceType)):  # type: ignore[attr-defined]
        return refusal(DELETE)
    if _is_one(key, (np.isneginf, np.isposinf)) and _given(signature.args[1:]):
        return refusal(OUT)
    if _is_one(key, _VIEWS):
        [array, *_] = signature.args
        if isinstance(array, types.Array) and not array.mutable:
            return f"{READ_ONLY}; take a copy"
    return None


def _key(function: Any) -> Any:
    """Return what Numba knows a function by."""
    return getattr(function, "typing_key", function)


def _is_one(key: Any, functions: tuple[Any, ...]) -> bool:
    return any(key is each for each in functions)


def _given(arguments: Any) -> bool:
    """Whether an argument that may be left out was not."""
    nothing = (types.Omitted, types.NoneType)  # type: ignore[attr-defined]
    return any(not isinstance(each, nothing) for each in arguments)


def _sizes(statement: Any, state: Any) -> Iterator[tuple[Any, Any]]:
    """Yield pairs of variables, an array that is written and one whose items are read for it."""
    value = statement.value if isinstance(statement, ir.Assign) else None
    if not isinstance(value, ir.Expr) or value.op not in ("inplace_binop", "call"):
        return
    kinds, signature = state.typemap, state.calltypes[value]
    if value.op == "inplace_binop":
        key, arguments, read = value.fn, [value.lhs, value.rhs], 2
    else:
        key, arguments, read = _key(kinds[value.func.name]), list(value.args), 2
    if _is_one(key, _IN_PLACE):
        if not isinstance(signature.args[0], types.ArrayCompatible):
            return  # a number
        written = arguments[:1]
    elif isinstance(key, np.ufunc) and _given(signature.args[key.nin :]):
        read = key.nin
        written = arguments[read:]
    else:
        return
    if len(arguments) != len(signature.args):
        raise UnsupportedError(refusal(OUT), statement.loc)  # np.add(*arguments)
    for target in written:
        reason = _refused_write(kinds[target.name], False)
        if reason:
            raise UnsupportedError(reason, statement.loc)
        for operand in (*arguments[:read], *written):
            pair = kinds[target.name], kinds[operand.name]
            if any(isinstance(each, types.Optional) for each in pair):  # type: ignore[attr-defined]
                raise UnsupportedError(refusal(OUT), statement.loc)
            if target is not operand and all(isinstance(each, types.ArrayCompatible) for each in pair):
                yield target, operand


def _comparison(target: Any, operand: Any, scope: Any, state: Any) -> Iterator[Any]:
    """Yield statements that raise unless an operand fits its target."""
    kinds, place = state.typemap, target.loc
    function, answer = (ir.Var(scope, mk_unique_var(name), place) for name in ("fits", "fitting"))
    call = ir.Expr.call(function, [target, operand], (), place)
    kind = state.typingctx.resolve_value_type(fits)
    kinds[function.name], kinds[answer.name] = kind, types.none
    state.calltypes[call] = kind.get_call_type(state.typingctx, (kinds[target.name], kinds[operand.name]), {})
    yield ir.Assign(ir.Global("fits", fits, place), function, place)
    yield ir.Assign(call, answer, place)


@intrinsic  # type: ignore[untyped-decorator]
def fits(_: Any, target: Any, operand: Any) -> Any:
    """Raise unless an operand can be stretched to the shape of its target, as NumPy stretches it."""

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        outer, inner = (
            cgutils.unpack_tuple(builder, context.make_array(kind)(context, builder, value).shape, kind.ndim)
            for kind, value in zip(signature.args, values, strict=True)
        )
        wrong = cgutils.true_bit if len(inner) > len(outer) else cgutils.false_bit
        for length, wanted in zip(reversed(inner), reversed(outer), strict=False):
            differs = builder.icmp_unsigned("!=", length, wanted)
            is_long = builder.icmp_unsigned("!=", length, length.type(1))
            wrong = builder.or_(wrong, builder.and_(differs, is_long))
        with cgutils.if_unlikely(builder, wrong):
            context.call_conv.return_user_exc(builder, ValueError, ("operands could not be broadcast together",))
        return context.get_dummy_value()

    return types.none(target.as_array, operand.as_array), code
