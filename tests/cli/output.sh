#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# -o FILE: a regular file whole or not at all, its mode, owner and links kept; what is none is written to as it stands.
. "$(dirname "$0")/../helpers.sh"
moeplan=$(realpath "$moeplan")
cd "$dir"
mkdir o
umask 022
"$moeplan" models >wanted

written() { cmp -s wanted "$1" || fail "$1 is not what stdout had"; }
mode() { # FILE WANTED
    found=$(ls -ld "$1" | cut -c1-10)
    [ "$found" = "$2" ] || fail "$1 has the mode $found, not $2"
}
alone() { # FILE…: all that is in o
    found=$(cd o && ls -A | tr '\n' ' ')
    [ "$found" = "$* " ] || fail "o holds $found, not $*"
}

# a new file heeds the umask, an old one keeps its mode, and its owner where that can be set
run 0 "$moeplan" models -o o/new
written o/new
mode o/new -rw-r--r--
rm o/new
(umask 077 && "$moeplan" models -o o/new)
mode o/new -rw-------
echo before >o/new
chmod 640 o/new
[ "$(id -u)" != 0 ] || chown 1234:2345 o/new
owner=$(ls -ln o/new | awk '{ print $3, $4 }')
run 0 "$moeplan" models -o o/new
written o/new
mode o/new -rw-r-----
[ "$(ls -ln o/new | awk '{ print $3, $4 }')" = "$owner" ] || fail "the owner changed"
alone new

# a file that may not be written is not replaced either
if [ "$(id -u)" != 0 ]; then
    chmod 400 o/new
    expect 2 "Permission denied" "$moeplan" version -o o/new
    written o/new
fi
rm -f o/new

# links stay and are followed: to a file, to nothing yet, over another link, into another folder
mkdir far
ln -s real o/link
run 0 "$moeplan" models -o o/link
written o/real
echo old >far/real
ln -s ../far/real o/second
ln -s second o/third
chmod 600 far/real
run 0 "$moeplan" models -o o/third
written far/real
mode far/real -rw-------
for link in link second third; do [ -h "o/$link" ] || fail "$link is no link any more"; done
ln -s circle o/circle
expect 2 "cannot be written" "$moeplan" models -o o/circle
alone circle link real second third
rm -r o far
mkdir o

# what is no regular file stays what it is
for name in /dev/stdout /dev/fd/1 /proc/self/fd/1; do
    [ -e "$name" ] || continue
    "$moeplan" models -o "$name" >file
    written file
    { echo head; "$moeplan" models -o "$name"; echo tail; } >file
    { echo head; cat wanted; echo tail; } | cmp -s - file || fail "$name does not go on where stdout is"
    "$moeplan" models -o "$name" | cmp -s - wanted || fail "$name is not the pipe"
done
mkfifo o/fifo
cat o/fifo >copy &
run 0 "$moeplan" models -o o/fifo
wait
written copy
[ -p o/fifo ] || fail "the FIFO is gone"
run 0 "$moeplan" models -o /dev/null
[ -c /dev/null ] || fail "the device is gone"
if [ -c /dev/full ]; then
    ln -s /dev/full o/full
    expect 2 "No space left" "$moeplan" models -o /dev/full
    expect 2 "No space left" "$moeplan" models -o o/full
    [ -c /dev/full ] || fail "the device is gone"
    rm o/full
fi
expect 2 "Is a directory" "$moeplan" models -o o
alone fifo
rm o/fifo

# a file that may not grow is an error like any other
echo before >o/new
run 2 sh -c 'ulimit -f 0; exec "$0" models -o o/new 2>/dev/null' "$moeplan"
[ "$(cat o/new)" = before ] || fail "the file changed"
alone new

# a signal at whatever moment: the old file or the new one, and nothing else
signals() {
    for signal in TERM HUP USR1; do
        for tick in 0 1 2 3 4 5 6 7 8 9; do
            echo before >o/new
            "$moeplan" models -o o/new &
            pid=$!
            sleep "0.00$tick"
            kill -s "$signal" $pid || :
            wait $pid || :
            [ "$(cat o/new)" = before ] || written o/new
            alone new
        done
    done
}
signals 2>/dev/null

# the status says which signal, in words that shells know; our own bug is status 3; what the caller has ignored stays so
mkfifo requests
signalled() { # STATUS SIGNAL COMMAND…: a process that waits for requests gets the signal, and then the end of its input
    want=$1 signal=$2 status=0
    shift 2
    rm -f answers
    "$@" <requests >answers &
    pid=$!
    exec 3>requests
    echo '{"id":1,"expr":"1"}' >&3
    while [ ! -s answers ]; do sleep 0.01; done
    kill -s "$signal" $pid
    exec 3>&-
    wait $pid || status=$?
    [ $status = "$want" ] || fail "status $status after $signal"
}
signalled 143 TERM "$moeplan" eval --batch
signalled 129 HUP "$moeplan" eval --batch
signalled 3 ABRT "$moeplan" eval --batch
signalled 0 HUP sh -c 'trap "" HUP; exec "$0" eval --batch' "$moeplan"

# a report is written where not everything could be read, too; a usage error writes nothing
mkdir recipes
printf 'a: [\n' >recipes/broken.yaml
printf 'moeplan: 1\nframework: megatron\ntp: 2\n' >recipes/plan.yaml
echo before >o/new
run 2 "$moeplan" validate recipes --format json -o o/new
"$moeplan" validate recipes --format json >wanted 2>/dev/null || :
written o/new
grep -q '"status":"unreadable"' o/new || fail "the report does not say what could not be read"
echo before >o/new
run 2 "$moeplan" validate recipes --nope -o o/new
run 2 "$moeplan" suggest no-such-model --gpus 8 --platform h100 -o o/new
[ "$(cat o/new)" = before ] || fail "a usage error wrote something"
alone new
