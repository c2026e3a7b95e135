#!/usr/bin/env python3
"""Add up csv files on Spark, by rdd.pipe with `gppl sum -`: the file has the bytes that gppl sum has with the same header.

    spark-submit scripts/spark/sum.py --like header.sums --output all.sums 'dir/*.csv' -- --x 1 --y 2

--like is a file of sums with the header: `gppl sum SAMPLE.csv --from … --to … --largest … -o header.sums`. Every worker must
have gppl, gppl-pipe and that file at the same paths. Flags after -- go to gppl sum, which sees the rows without the files' first
lines: columns by number.
"""
import argparse
import base64
import os
import shlex
import sys

from pyspark import SparkContext

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    own, theirs = sys.argv[1:], []
    if "--" in own:
        at = own.index("--")
        own, theirs = own[:at], own[at + 1:]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input", nargs="+", help="csv files that the workers see, as Spark names them")
    parser.add_argument("--like", required=True, help="a file of sums with the header")
    parser.add_argument("--output", required=True)
    parser.add_argument("--gppl", default="gppl", help="the program, on the workers")
    parser.add_argument("--pipe", default=os.path.join(HERE, "gppl-pipe"), help="the script gppl-pipe, on the workers")
    parser.add_argument("--partitions", type=int, default=0, help="at least so many parts")
    parser.add_argument("--no-header", action="store_true", help="the first line of a file is data")
    a = parser.parse_args(own)

    spark = SparkContext(appName="gppl sum")
    lines = spark.textFile(",".join(a.input), a.partitions or None)
    if not a.no_header:
        header = lines.first()
        lines = lines.filter(lambda line: line != header)
    like = os.path.abspath(a.like)
    command = [a.pipe, "sum", a.gppl, like, "--no-header"] + theirs
    parts = lines.pipe(shlex.join(command), checkCode=True)
    # Each worker merges its partitions, so that one line per worker reaches the driver instead of one per partition.
    few = parts.coalesce(max(1, spark.defaultParallelism)).pipe(shlex.join([a.pipe, "merge", a.gppl]), checkCode=True)
    merged = few.repartition(1).pipe(shlex.join([a.pipe, "merge", a.gppl]), checkCode=True).collect()
    spark.stop()
    if not merged:
        sys.exit("sum.py: no row could be added: nothing is written")
    part = a.output + ".new"
    with open(part, "wb") as f:
        f.write(base64.b64decode(merged[0]))
    os.replace(part, a.output)


if __name__ == "__main__":
    main()
