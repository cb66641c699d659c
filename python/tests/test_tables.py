"""Frames of several libraries are the same rows."""

import ctypes
import os
import random
import sys
import unittest
from pathlib import Path

if not os.environ.get("DARRM_INSTALLED"):
    sys.path.insert(0, str(Path(__file__).parents[1]))
import darrm  # noqa: E402
from darrm import _tables  # noqa: E402

try:
    import pandas
except ImportError:
    pandas = None

INT, UINT, FLOAT, BOOL, STRING, DATE, CATEGORY = 0, 1, 2, 20, 21, 22, 23


class Buffer:
    """The bytes of a column, on a device."""

    def __init__(self, data, device=1):
        self._data, self._device = ctypes.create_string_buffer(data, len(data)), device
        self.ptr, self.bufsize = ctypes.addressof(self._data), len(data)

    def __dlpack_device__(self):
        return self._device, None


class Column:
    """A column of the dataframe interchange protocol, as the specification has it."""

    def __init__(self, dtype, size, null=(0, None), offset=0, categories=None, **buffers):
        self.dtype, self._size, self.describe_null, self.offset = dtype, size, null, offset
        self.describe_categorical = {"is_ordered": False, "is_dictionary": True, "categories": categories}
        self._buffers = {"data": None, "validity": None, "offsets": None, **buffers}

    def size(self):
        return self._size

    def get_buffers(self):
        return self._buffers


class Frame:
    """A frame that has the protocol and nothing else."""

    def __init__(self, *chunks):
        self._chunks = chunks

    def __dataframe__(self, nan_as_null=False, allow_copy=True):
        return self

    def column_names(self):
        return list(self._chunks[0])

    def get_chunks(self, n_chunks=None):
        return [Chunk(c) for c in self._chunks]


class Chunk:
    def __init__(self, columns):
        self._columns = list(columns.values())

    def get_column(self, i):
        return self._columns[i]


def ints(values, bits=64, **more):
    data = b"".join(v.to_bytes(bits // 8, sys.byteorder, signed=True) for v in values)
    dtype = (INT, bits, "l", "=")
    return Column(dtype, more.pop("size", len(values)), data=(Buffer(data), dtype), **more)


def words(values, bits=64, **more):
    text, ends = b"", [0]
    for v in values:
        text += v.encode()
        ends.append(len(text))
    offsets = b"".join(e.to_bytes(bits // 8, sys.byteorder) for e in ends)
    return Column(
        (STRING, 8, "u", "="), more.pop("size", len(values)), data=(Buffer(text), (UINT, 8, "C", "=")),
        offsets=(Buffer(offsets), (INT, bits, "l", "=")), **more,
    )


class Protocol(unittest.TestCase):
    def rows(self, *chunks):
        table = _tables.read(Frame(*chunks), "votes")
        self.assertIsNone(table.index)
        return table.names, table.cells

    def test_columns_of_arrow(self):
        """Offsets, bits of truth values and of validity, dictionaries, short offsets of text, chunks."""
        booleans = Column((BOOL, 1, "b", "="), 3, (3, 0), offset=2, data=(Buffer(b"\x14"), (BOOL, 1, "b", "=")),
                          validity=(Buffer(b"\x1c"), (BOOL, 1, "b", "=")))  # bits 2, 3, 4 are 1, 0, 1
        codes = (INT, 8, "c", "=")
        named = Column((CATEGORY, 8, "c", "="), 3, (2, -1), categories=words(["cat", "dög"]), data=(Buffer(b"\x01\xff\x00"), codes))
        first = {
            "i": ints([7, -1, 5, 6], offset=1, size=3),
            "b": booleans,
            "c": named,
            "s": words(["a", "", "ü"], bits=32, null=(3, 0), validity=(Buffer(b"\x05"), (BOOL, 1, "b", "="))),
        }
        second = {"i": ints([2]), "b": ints([0], bits=8), "c": words(["dog"]), "s": words(["z"])}
        names, cells = self.rows(first, second)
        self.assertEqual(names, ["i", "b", "c", "s"])
        self.assertEqual(cells, [[-1, 1, "dög", "a"], [5, 0, "", ""], [6, 1, "cat", "ü"], [2, 0, "dog", "z"]])

    def test_masks(self):
        """A mask of bytes, of either meaning, and a number that stands for a missing one."""
        mask = (Buffer(b"\x00\x01"), (BOOL, 8, "b", "="))
        self.assertEqual(self.rows({"a": ints([1, 2], null=(4, 1), validity=mask)})[1], [[1], [""]])
        self.assertEqual(self.rows({"a": ints([1, 2], null=(4, 0), validity=mask)})[1], [[""], [2]])
        self.assertEqual(self.rows({"a": ints([1, -9], bits=16, null=(2, -9))})[1], [[1], [""]])

    def test_what_cannot_be_read_is_refused(self):
        date = (DATE, 64, "tdD", "=")
        with self.assertRaisesRegex(TypeError, "column 'a' has the type 22"):
            self.rows({"a": Column(date, 1, data=(Buffer(bytes(8)), date))})
        with self.assertRaisesRegex(TypeError, "not in the memory"):
            self.rows({"a": Column((INT, 8, "c", "="), 1, data=(Buffer(b"\0", device=2), (INT, 8, "c", "=")))})
        other = (INT, 64, "l", ">" if sys.byteorder == "little" else "<")
        with self.assertRaisesRegex(TypeError, "other order"):
            self.rows({"a": Column(other, 1, data=(Buffer(bytes(8)), other))})
        with self.assertRaisesRegex(TypeError, "kind 7"):
            self.rows({"a": ints([1], null=(7, None))})

    def test_labels(self):
        frame = Frame({"id": words(["p", "q"]), "t1": ints([1, 0]), "t2": ints([1, 0]), "t3": ints([1, 0])})
        r = darrm.aggregate(frame, m=3, eps=20, teacher_delta=0, accept_weak=True)
        self.assertEqual((r.queries, r.labels, r.index), (["p", "q"], [1, 0], None))

    @unittest.skipIf(pandas is None, "pandas is not installed")
    def test_pandas_by_the_protocol(self):
        """Random frames of pandas are the same rows by the protocol as by pandas itself."""
        rng = random.Random(3)
        for _ in range(30):
            n = rng.randrange(1, 20)
            frame = pandas.DataFrame({
                "i": pandas.Series([rng.randrange(-9, 9) for _ in range(n)], dtype=rng.choice(["int8", "int64", "float32"])),
                "f": [rng.choice([0.5, float("nan"), -1e300]) for _ in range(n)],
                "b": [rng.random() < 0.5 for _ in range(n)],
                "s": [rng.choice(["", "cat", "dög", "x,y"]) for _ in range(n)],
                "c": pandas.Categorical([rng.choice(["no", "yes", None]) for _ in range(n)], categories=["yes", "no"]),
            })[rng.sample("ifbsc", 5)]
            frame = frame.iloc[rng.randrange(n):]

            class Only:
                def __dataframe__(self):
                    return frame.__dataframe__()

            by_protocol, by_pandas = _tables.read(Only(), "votes"), _tables.read(frame, "votes")
            self.assertEqual((by_protocol.names, by_protocol.cells), (by_pandas.names, by_pandas.cells))


class Errors(unittest.TestCase):
    def test_bad_cells_are_input_errors(self):
        for rows in ([[1, 0], [1]], [[1, 1j]], []):
            with self.subTest(rows=rows), self.assertRaises(darrm.InputError) as e:
                darrm.describe(rows)
            self.assertEqual((e.exception.kind, e.exception.exit_code), ("input", 3))
        for rows in ([1, 0], "10", {}, [[{}, 1]], 7):
            with self.subTest(rows=rows), self.assertRaises((TypeError, darrm.InputError)):
                darrm.PrivateVote(budget_eps=1, budget_delta=0).predict(rows)


@unittest.skipIf(pandas is None, "pandas is not installed")
class Index(unittest.TestCase):
    SURE = {"m": 3, "eps": 20, "teacher_delta": 0, "accept_weak": True}  # at mε = 60 no noise: labels are majorities

    def test_labels_have_the_frame_s(self):
        for index in (pandas.date_range("2026-01-01", periods=3), [5, 3, 9], pandas.MultiIndex.from_tuples([(1, "a"), (1, "b"), (2, "a")])):
            frame = pandas.DataFrame([[1, 0, 1], [0, 0, 1], [1, 1, 1]], index=index, columns=["t1", "t2", "t3"])
            got = darrm.aggregate(frame, **self.SURE).to_series()
            self.assertTrue(got.index.equals(frame.index))
            self.assertEqual(got.tolist(), [1, 0, 1])
            vote = darrm.PrivateVote(budget_eps=10, budget_delta=0, affected=1).predict(frame)
            self.assertTrue(vote.index.equals(frame.index))

    def test_without_a_frame_they_have_the_queries(self):
        got = darrm.aggregate([["a", 1, 1, 1], ["b", 0, 0, 0]], id_column=1, **self.SURE).to_series()
        self.assertEqual(got.to_dict(), {"a": 1, "b": 0})


if __name__ == "__main__":
    unittest.main()
