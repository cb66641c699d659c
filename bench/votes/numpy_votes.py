"""Reads a file of votes with numpy and prints how many majorities are 1.

    numpy_votes.py loadtxt|bytes|load|loadT|import FILE

loadtxt is what one writes for a CSV of integers. bytes takes the file as an array of
characters, which works only where every cell is one digit and every line ends
alike, and checks nothing. loadT is load for teachers x queries.
"""

import sys

import numpy

how, path = sys.argv[1:3]
if how == "import":
    sys.exit()
if how == "loadtxt":
    votes = numpy.loadtxt(path, delimiter=",", dtype=numpy.int8, ndmin=2)
elif how == "bytes":
    with open(path, "rb") as f:
        width = len(f.readline())
    votes = numpy.fromfile(path, dtype=numpy.uint8).reshape(-1, width)[:, ::2] - ord("0")
elif how in ("load", "loadT"):
    votes = numpy.load(path)
    if how == "loadT":
        votes = votes.T
else:
    sys.exit("how?")
ones = votes.sum(axis=1, dtype=numpy.int64)
print(int((2 * ones > votes.shape[1]).sum()))
