"""A trained model as an ONNX graph, by the package onnx."""

from __future__ import annotations

import math
import os
from typing import Any, Dict, List, Optional, Sequence, Union

from ._program import UsageError

OPSET, IR = 13, 7  # the oldest in which every operator below takes doubles


def write(model: Dict[str, Any], classes: Optional[Sequence[Any]], path: Union[str, "os.PathLike[str]"]) -> None:
    """Write the graph of a model whose columns are numbers."""
    try:
        from onnx import TensorProto, checker, helper, save
    except ImportError as e:
        raise ImportError("an ONNX file is written by the package onnx, which is not installed") from e
    columns = model["preparation"]["features"] if "preparation" in model else [{"name": n} for n in model["columns"]]
    for c in columns:
        if "categories" in c or "fill" in c:
            raise UsageError(f"column {c['name']!r} has categories or a value for blanks, but ONNX is for numbers", "usage", 2)
    if "radius_norm" in model:
        raise UsageError(f"radius_norm = {model['radius_norm']!r}, but ONNX is for Euclid's norm", "usage", 2)
    nodes: List[Any] = []
    constants: List[Any] = []

    def constant(name: str, values: Sequence[Any], shape: Sequence[int], kind: int = TensorProto.DOUBLE) -> str:
        constants.append(helper.make_tensor(name, kind, shape, [str(v).encode() if kind == TensorProto.STRING else v for v in values]))
        return name

    def node(operator: str, inputs: Sequence[str], output: str, **attributes: Any) -> str:
        nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    d = len(columns)
    ranges = [c.get("scale") for c in columns]

    def line(column: Dict[str, Any]) -> List[float]:
        """Slope and shift of a column's numbers to [-1, 1]."""
        if "scale" not in column:
            return [1, 0]
        low, high = column["scale"]
        if column.get("center") == "zero":
            return [1 / max(-low, high), 0]
        return [2 / (high - low), -1 - 2 * low / (high - low)]

    slopes, shifts = zip(*map(line, columns))
    low = constant("low", [-math.inf if r is None else r[0] for r in ranges], [d])
    high = constant("high", [math.inf if r is None else r[1] for r in ranges], [d])
    slope, shift = constant("slope", slopes, [d]), constant("shift", shifts, [d])
    x = node("Add", [node("Mul", [node("Min", [node("Max", ["X", low], "raised"), high], "cut"), slope], "sloped"), shift], "record")
    if model.get("radius"):
        one = constant("one", [1], [1], TensorProto.INT64)
        norm = node("Sqrt", [node("ReduceSum", [node("Mul", [x, x], "squares"), one], "square", keepdims=1)], "norm")
        radius = constant("radius", [model["radius"]], [])
        x = node("Div", [node("Mul", [x, radius], "times"), node("Max", [norm, radius], "length")], "shortened")
    weights = model["model"]
    count = len(model.get("classes", [""]))  # of scores
    each = len(weights) // count
    w = constant("weights", [weights[k * each + j] for j in range(d) for k in range(count)], [d, count])
    b = constant("intercept", [weights[k * each + d] if each > d else 0 for k in range(count)], [count])
    score = node("Add", [node("MatMul", [x, w], "product"), b], "score")
    outputs = {"score": (TensorProto.DOUBLE, ["N", count])}
    kind = TensorProto.INT64 if all(isinstance(c, int) for c in classes or []) else TensorProto.STRING
    if count > 1:
        at = node("ArgMax", [score], "index", axis=1, keepdims=1)
        node("Gather", [constant("classes", classes or model["classes"], [count], kind if classes else TensorProto.STRING), at], "label")
        outputs = {"label": (kind if classes else TensorProto.STRING, ["N", 1]), **outputs}
        if model["link"] == "softmax":
            node("Softmax", [score], "probabilities", axis=1)
        elif model["link"] == "logit":
            against = node("Sigmoid", [score], "against")
            total = node("ReduceSum", [against, constant("across", [1], [1], TensorProto.INT64)], "total", keepdims=1)
            node("Div", [against, total], "probabilities")
        if model["link"] != "sign":
            outputs = {**outputs, "probabilities": (TensorProto.DOUBLE, ["N", count])}
    elif model["link"] == "logit" and classes is not None:
        positive = node("Sigmoid", [score], "positive")
        node("Concat", [node("Sub", [constant("unit", [1], [1]), positive], "negative"), positive], "probabilities", axis=1)
        at = node("Cast", [node("Greater", [score, constant("zero", [0], [1])], "above")], "index", to=TensorProto.INT64)
        node("Gather", [constant("classes", classes, [2], kind), at], "label")
        outputs = {"label": (kind, ["N", 1]), "probabilities": (TensorProto.DOUBLE, ["N", 2]), **outputs}
    response = (model.get("preparation") or {}).get("response") or {}
    if "scale" in response:
        low_y, high_y = response["scale"]
        half = node("Mul", [score, constant("half", [(high_y - low_y) / 2], [1])], "halved")
        node("Add", [half, constant("middle", [(high_y + low_y) / 2], [1])], "prediction")
        outputs = {"prediction": (TensorProto.DOUBLE, ["N", 1])}
    graph = helper.make_graph(
        nodes, "darrm", [helper.make_tensor_value_info("X", TensorProto.DOUBLE, ["N", d])],
        [helper.make_tensor_value_info(name, *form) for name, form in outputs.items()], constants,
    )
    made = helper.make_model(graph, producer_name="darrm", opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR)
    checker.check_model(made, full_check=True)
    save(made, os.fspath(path))
