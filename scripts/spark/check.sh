#!/usr/bin/env bash
# Runs sum.py on a Spark standalone cluster of PyPI's pyspark, a master and two workers on this machine, and compares the bytes with those
# of gppl sum. It needs Java 17 and, unless PYSPARK_VENV has pyspark, half a gigabyte for a venv of its own.
#
#   scripts/spark/check.sh [ROWS]
set -euo pipefail
rows=${1:-300000}
root=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d)
processes=()
finish() {
	for p in "${processes[@]}"; do kill "$p" 2>/dev/null || true; done
	wait 2>/dev/null || true
	[ -n "${KEEP:-}" ] || rm -rf "$dir"
}
trap finish EXIT

venv=${PYSPARK_VENV:-$dir/venv}
if [ ! -x "$venv/bin/python" ]; then
	python3 -m venv "$venv"
	"$venv/bin/pip" install -q pyspark
fi
export SPARK_HOME
SPARK_HOME=$("$venv/bin/python" -c 'import os, pyspark; print(os.path.dirname(pyspark.__file__))')
export PYSPARK_PYTHON=$venv/bin/python SPARK_LOCAL_IP=127.0.0.1 SPARK_NO_DAEMONIZE=1 SPARK_WORKER_DIR=$dir/work SPARK_LOG_DIR=$dir/log
"$PYSPARK_PYTHON" -c 'import pyspark; print("pyspark", pyspark.__version__)'
java -version 2>&1 | head -1

go -C "$root" build -o "$dir/gppl" ./cmd/gppl
mkdir "$dir/in"
awk -v n="$rows" -v dir="$dir/in" 'BEGIN {
	srand(7)
	for (f = 0; f < 5; f++) {
		file = dir "/" f ".csv"
		print "time,level" > file
		for (i = 0; i < n / 5; i++) { t = 1000 * rand(); printf "%.6f,%.5f\n", t, sin(t / 7) + rand() > file }
	}
}'
"$dir/gppl" sum "$dir"/in/*.csv --from 0 --to 1000 --centre 0 --largest 4 --lengthscale 2 -o "$dir/want.sums" -q >/dev/null

port=$("$PYSPARK_PYTHON" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
class() { "$SPARK_HOME/bin/spark-class" "$@" >>"$dir/cluster.log" 2>&1 & processes+=($!); }
class org.apache.spark.deploy.master.Master --host 127.0.0.1 --port "$port" --webui-port 0
for _ in 1 2; do
	class org.apache.spark.deploy.worker.Worker --host 127.0.0.1 --cores 1 --memory 1g --webui-port 0 "spark://127.0.0.1:$port"
done
for _ in $(seq 120); do # until both have registered
	[ "$(grep -c 'Successfully registered with master' "$dir/cluster.log" || true)" -ge 2 ] && break
	sleep 1
done
grep -o 'Registering worker.*' "$dir/cluster.log" || { cat "$dir/cluster.log"; exit 1; }

begin=$(date +%s)
"$SPARK_HOME/bin/spark-submit" --master "spark://127.0.0.1:$port" --conf spark.executor.memory=512m --conf spark.ui.enabled=false \
	"$root/scripts/spark/sum.py" --gppl "$dir/gppl" --like "$dir/want.sums" --partitions 12 --output "$dir/got.sums" "$dir/in/*.csv" -- --x 1 --y 2 \
	2>"$dir/submit.log" || { tail -30 "$dir/submit.log"; exit 1; }
echo "$rows rows of 5 files on 2 workers in $(($(date +%s) - begin)) s"
"$dir/gppl" info "$dir/got.sums" | head -3
cmp "$dir/got.sums" "$dir/want.sums"
echo "the bytes of gppl sum"
