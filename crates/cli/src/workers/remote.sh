# Starts a worker on this machine: $1 hash of the program, $2 its bytes, $3 socket of the bus or nothing, then flags of the worker.
# Standard input: a line with the bus, the program if it is wanted, and its end when the worker is to end.
set -eu
umask 077
hash=$1 size=$2 socket=$3
shift 3
part= own= worker=
clean() {
  test -z "$worker" || kill "$worker" 2> /dev/null || :
  rm -rf ${part:+"$part"} ${own:+"$own"} ${socket:+"$socket"}
}
trap clean EXIT
trap "exit 1" HUP INT TERM PIPE
fail() { echo "$1" >&2; exit 1; }
IFS= read -r bus
command -v sha256sum > /dev/null || fail "sha256sum is missing there; install coreutils"
test -z "$socket" || test -S "$socket" || fail "sshd there forwards no socket; it needs AllowStreamLocalForwarding yes, or use --cluster"
folder=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/onrush
program=$folder/onrush-$hash
is_it() { test -f "$1" && test "$(sha256sum < "$1" | cut -c 1-64)" = "$hash"; }
if is_it "$program"; then
  echo "onrush: has it"
else
  echo "onrush: wants it for $(uname -sm)"
  mkdir -p "$folder"
  part=$(mktemp "$program.XXXXXX")
  head -c "$size" > "$part"
  is_it "$part" || fail "the program did not arrive whole"
  chmod 700 "$part"
  mv "$part" "$program"
fi
"$program" --version > /dev/null || fail "$program cannot be carried out there: a file system without exec, or libraries that are missing"
own=$(mktemp -d /tmp/onrush.XXXXXX)
if test -n "$socket"; then
  mv "$socket" "$own/bus"
  bus=unix:$own/bus
fi
for name in $(env | sed -n "s/^\(ONRUSH_[A-Z0-9_]*\)=.*/\1/p"); do
  unset "$name"
done
export ONRUSH_JOIN="$bus" TMPDIR="$own"
exec 3<&0
"$program" worker "$@" < /dev/null > /dev/null 3<&- &
worker=$!
{ cat <&3 > /dev/null; kill "$worker"; } 2> /dev/null > /dev/null &
echo "onrush: runs"
code=0
wait "$worker" || code=$?
worker=
exit "$code"
