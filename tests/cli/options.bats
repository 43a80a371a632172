#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Options that several commands share, exit statuses, escaping, lists of
# targets.

load helper

commands=(fsdetect fsverify fsconvert)

# --- help and usage ---------------------------------------------------------

@test "--help and -h name every option under its heading" {
    local command long
    for command in "${commands[@]}"; do
        run --separate-stderr "$command" --help
        assert_success
        assert_line --partial "Usage: $command [OPTION...]"
        assert_line 'Selection:'
        assert_line 'Output:'
        assert_line 'Help:'
        refute_output --partial dump-options
        while IFS=$'\t' read -r long _; do
            assert_output --partial -- "--$long"
        done < <("$command" --dump-options)
        assert_equal "$("$command" -h)" "$output"
    done
    assert_line --partial Safety: <<<"$(fsconvert --help)"
}

@test "--usage is short, --version and -V name the version" {
    local command
    for command in "${commands[@]}"; do
        run "$command" --usage
        assert_success
        assert_line --partial "Usage: $command ["
        run "$command" --version
        assert_success
        assert_output --regexp "^$command \(fsmend\) [0-9]+\.[0-9]+\.[0-9]+$"
        assert_equal "$("$command" -V)" "$output"
    done
}

@test "a command line that makes no sense exits 16 and changes nothing" {
    repo r 2 linear
    local line
    while read -r line; do
        # shellcheck disable=SC2086
        run --separate-stderr same_tree r $line
        assert_failure 16
        assert_equal "$output" ''
        # shellcheck disable=SC2154 # bats sets it
        [[ $stderr == "${line%% *}: "* ]]
    done <<'END'
fsdetect
fsverify
fsconvert
fsdetect --no-such r
fsdetect -Z r
fsdetect --progress=often r
fsdetect --progress-fd=x r
fsdetect --format=ext4 r
fsdetect --shard=1 r
fsdetect --shard=3/2 r
fsdetect --shard=1/0 r
fsdetect --null r
fsdetect -q -v r
fsdetect --files-from=/dev/null r
fsdetect --dry-run r
fsverify --only=fsfs.no.such r
fsverify --skip=fsfs.no.such r
fsverify --severity=fsfs.format.number r
fsverify --severity=fsfs.format.number=bad r
fsverify --severity=fsfs.no.such=warn r
fsverify --layout=linear r
fsverify --jobs=many r
fsverify -j 5K r
fsconvert --layout=0 r
fsconvert --layout=many r
fsconvert --mode=copy r
fsconvert --resume --undo r
fsconvert --undo --forget r
fsconvert --undo --layout=linear r
fsconvert --resume r t
fsconvert --force r
fsconvert --mode=link r t
fsconvert --recursive r t
fsconvert --shard=1/2 r t
fsconvert --lock-wait=-1 r
fsconvert --lock-wait=1X r
fsconvert r s t
END
}

@test "numbers take K, M and G" {
    repo r 2 linear
    local n
    for n in 0 7 1K; do
        run fsconvert -n --lock-wait=$n r
        assert_success
    done
    run fsconvert -n --lock-wait=1G r
    assert_failure 16
    run fsdetect -q --shard=0/1K r
    assert_success
}

@test "-- ends the options" {
    repo -r 2 linear
    run fsdetect -q -- -r
    assert_success
    assert_output '-r: Subversion repository, FSFS'
    run fsdetect -q --json -- --json
    assert_failure 8
    assert_equal "$(jq -r .target <<<"${lines[-1]}")" --json
}

# --- aliases ----------------------------------------------------------------

@test "popt's alias files are read, its exec lines are not obeyed" {
    repo r 2 linear
    export HOME=$PWD
    printf 'fsdetect alias --short -q\nfsdetect exec --run touch ran\n' >.popt
    run env -u FSMEND_NO_POPT "$BUILD/fsdetect" --short r
    assert_success
    assert_output 'r: Subversion repository, FSFS'
    run env -u FSMEND_NO_POPT "$BUILD/fsdetect" --run r
    assert_file_not_exist ran
    run fsdetect --short r
    assert_failure 16
}

# --- exit status ------------------------------------------------------------

@test "exit statuses are added up over all targets" {
    repo good 2 linear
    repo bad 2 linear
    rm bad/db/revs/3
    echo nothing >file
    mkdir empty
    run fsdetect good
    assert_success
    run fsdetect file
    assert_failure 4
    assert_output 'file: unknown'
    run fsdetect empty
    assert_failure 4
    run fsdetect good missing
    assert_failure 8
    run fsdetect file missing good
    assert_failure 12
    run fsverify good bad
    assert_failure 4
    run fsverify bad missing
    assert_failure 12
    run fsverify file
    assert_failure 8
    run fsverify --files-from=missing
    assert_failure 8
    run fsconvert empty
    assert_failure 16
    run fsconvert missing
    assert_failure 8
}

@test "a target that cannot be worked on is named with the cause" {
    mkfifo pipe
    ln -s pipe link
    run --separate-stderr fsdetect missing pipe link
    assert_failure
    assert_equal "$output" ''
    # shellcheck disable=SC2154
    assert_equal "$(head -1 <<<"$stderr")" \
        'fsdetect: missing: cannot open: No such file or directory'
    assert_equal "$(grep -c 'neither a directory nor a file' <<<"$stderr")" 2
}

@test "output that cannot be written is a failure" {
    repo r 2 linear
    [ -w /dev/full ] || skip 'no /dev/full'
    run --separate-stderr bash -c 'fsdetect r >/dev/full'
    assert_failure 8
    [[ $stderr == *'cannot write the output'* ]]
}

# --- output -----------------------------------------------------------------

@test "nothing from a target or a command line reaches a terminal raw" {
    local name=$'\e[31mred\a\xff\xe2\x80\xaeevil\\'
    repo "$name" 2 linear
    run fsdetect "$name" $'no\nsuch'
    assert_failure 8
    refute_output --regexp $'[\x01-\x08\x0b-\x1f\x7f]'
    assert_line --partial '\x1b[31mred\x07\xff\xe2\x80\xaeevil\\: Sub'
    assert_line --partial 'no\x0asuch: cannot open'
    run fsdetect --bogus=$'\e'
    assert_output --partial 'bogus'
    refute_output --partial $'\e'
}

@test "names in UTF-8 are printed as they are" {
    local name=$'caf\xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac'
    repo "$name" 2 linear
    run fsdetect -q "$name"
    assert_output "$name: Subversion repository, FSFS"
}

@test "--json prints one summary for each target, whatever happened" {
    repo good 2 linear
    repo bad 2 linear
    rm bad/db/revs/3
    echo >file
    local command
    for command in "${commands[@]}"; do
        run --separate-stderr "$command" --json good bad-name file
        [ "$command" = fsconvert ] || {
            assert_failure
            assert_equal "$(json 'select(.type == "summary").target')" \
                $'good\nbad-name\nfile'
        }
    done
    run --separate-stderr fsverify --json good bad
    assert_failure 4
    assert_equal "$(json .schema | sort -u)" fsmend/1
    assert_equal "$(json 'select(.target == "good").status')" 0
    assert_equal "$(json 'select(.target == "bad" and .type == "summary").status')" 4
    assert_equal "$(json 'select(.type == "finding") | .check, .severity, .state')" \
        $'fsfs.rev.missing\nfatal\nopen'
}

@test "--json of fsconvert: plan, outcome, nothing to do, records" {
    repo r 2 linear
    run --separate-stderr fsconvert --json --dry-run r
    assert_success
    assert_equal "$(json '.changed, .dry_run, .operation, .mode' | tr '\n' ' ')" \
        'false true layout link '
    run --separate-stderr fsconvert --json --layout=3 r
    assert_success
    assert_equal "$(jq -r '.changed, .status' <<<"$output")" $'true\n0'
    assert_equal "$(json '.files == .compared')" true
    run --separate-stderr fsconvert --json r
    assert_equal "$(jq -r .changed <<<"$output")" false
    run --separate-stderr fsconvert --json --forget r
    assert_equal "$(json .forgotten)" 1
}

@test "--json gives names that are not UTF-8 in their printed form" {
    local name=$'a\xff\\b'
    repo "$name" 2 linear
    run --separate-stderr fsdetect --json "$name"
    assert_success
    assert_equal "$(json .target)" 'a\xff\\b'
    assert_equal "$(json .escaped)" true
}

@test "-q prints nothing when all is well, --verbose more than usual" {
    repo r 2 linear
    run fsverify -q r
    assert_success
    refute_output
    run fsconvert --quiet r
    assert_success
    refute_output
    run fsconvert -q r
    assert_success
    refute_output
    run fsdetect --quiet r
    assert_output 'r: Subversion repository, FSFS'
    local usual
    usual=$(fsdetect r | wc -l)
    [ "$(fsdetect --verbose r | wc -l)" -gt "$usual" ]
    run fsconvert -v --layout=2 r
    assert_line --regexp '^  write-lock held +[0-9.]+ ms$'
}

@test "-q of fsverify prints what makes the exit status" {
    repo r 2 linear
    echo stray >r/db/stray
    run fsverify r
    assert_success
    assert_line --regexp '^r: warn: .*\[fsfs\.layout\.stray\]$'
    run fsverify -q r
    assert_success
    refute_output
    run fsverify -q --strict r
    assert_failure 4
    assert_line --partial '[fsfs.layout.stray]'
}

@test "progress: on request, on a descriptor, never on a pipe by itself" {
    repo r 2 linear
    run --separate-stderr fsconvert --layout=2 r
    assert_equal "$stderr" ''
    run --separate-stderr fsconvert --progress=always --layout=3 r
    assert_success
    [ -n "$stderr" ]
    run --separate-stderr bash -c 'fsconvert --progress-fd=7 --layout=2 r 7>records'
    assert_success
    assert_equal "$stderr" ''
    assert_equal "$(grep -cvP '^[a-z ]+\t[0-9]+\t[0-9]+$' records)" 0
    run bash -c 'fsconvert -C 7 --layout=3 r 7>records'
    assert_success
    [ -s records ]
    run --separate-stderr fsconvert --progress=never --layout=2 r
    assert_equal "$stderr" ''
}

# --- selection --------------------------------------------------------------

@test "--files-from takes lines, or with -0 and --null what ends in NUL" {
    repo r 2 linear
    cp -a r $'s\nt'
    printf 'r\n\nmissing\n' >list
    run --separate-stderr fsdetect -q --files-from=list
    assert_failure 8
    assert_output 'r: Subversion repository, FSFS'
    run fsdetect -q --files-from=- < <(printf r)
    assert_success
    assert_output 'r: Subversion repository, FSFS'
    printf 's\nt\0r\0' >list
    for null in -0 --null; do
        run fsdetect -q --files-from=list "$null"
        assert_success
        assert_output $'s\\x0at: Subversion repository, FSFS\nr: Subversion repository, FSFS'
    done
    run fsconvert -q --files-from=- < <(printf 'r\n')
    assert_success
    assert_equal "$(tail -1 r/db/format)" 'layout sharded 1000'
}

@test "--recursive takes what it recognises, in order, and follows no link" {
    mkdir -p all/b/deep all/c
    repo r 2 linear
    cp -a r all/b/deep/two
    cp -a r all/a-one
    cp -a r all/c/three
    ln -s ../../r all/c/link
    ln -s . all/c/loop
    echo text >all/b/file
    run fsdetect -q --recursive all
    assert_success
    assert_output "all/a-one: Subversion repository, FSFS
all/b/deep/two: Subversion repository, FSFS
all/c/three: Subversion repository, FSFS"
    run fsverify -q --recursive all r
    assert_success
    run fsconvert --recursive all
    assert_success
    assert_equal "$(grep -c ': converted: ' <<<"$output")" 3
    run fsdetect --recursive all/b/file
    assert_failure 4
}

@test "--shard takes every target once, counted from 0 or from 1" {
    repo r 2 linear
    local i n=3
    for i in a b c d e f g h; do ln -s r $i; done
    fsdetect -q -- ? | sort >whole
    for i in 0 1 2; do fsdetect -q --shard=$i/$n -- ?; done | sort >from0
    for i in 1 2 3; do fsdetect -q --shard=$i/$n -- ?; done | sort >from1
    assert_equal "$(cat from0)" "$(cat whole)"
    assert_equal "$(cat from1)" "$(cat whole)"
    [ "$(fsdetect -q --shard=1/$n -- ? | wc -l)" -lt 9 ]
}

@test "--format skips probing" {
    repo r 2 linear
    run fsdetect -q --format=fsfs r
    assert_success
    run fsdetect --format=squashfs r
    assert_failure
    run fsverify -q --format=fsfs r
    assert_success
    run fsverify --format=archive r
    assert_failure
}

# --- selection of checks ----------------------------------------------------

@test "--only, --skip and --severity" {
    repo r 2 linear
    rm r/db/revs/3
    run fsverify r
    assert_failure 4
    run fsverify --only='fsfs.format.*' r
    assert_success
    run fsverify --skip='fsfs.rev.*' --skip='fsfs.revprop.*' r
    assert_success
    run fsverify --severity='fsfs.rev.*=warn' r
    assert_success
    assert_line --partial ': warn: '
    run fsverify --severity='fsfs.*=fatal' --severity='fsfs.*=note' r
    assert_success
    refute_output --partial '[fsfs.'
}

@test "--jobs changes nothing that is printed" {
    repo r 8 4
    rm r/db/revs/0/3 r/db/revs/1/5
    run fsverify -v r
    assert_failure 4
    local n
    for n in 1 2 7; do
        assert_equal "$(fsverify -v --jobs=$n r || :)" "$output"
        assert_equal "$(fsverify -v -j $n r || :)" "$output"
    done
    run fsconvert -n --jobs=2 --layout=3 r
    assert_success
}

# --- signals ----------------------------------------------------------------

@test "a signal stops a run over many targets, status 32" {
    repo r 2 linear
    mkfifo pipe
    fsdetect -q --files-from=- >out <pipe 3>&- &
    local pid=$! rc=0
    exec 5>pipe
    echo r >&5
    sleep 0.3
    kill -TERM $pid
    sleep 0.2
    exec 5>&-
    wait $pid || rc=$?
    assert_equal "$rc" 32
}

@test "SIGUSR1 prints one status line" {
    repo r 2 linear
    mkfifo pipe
    fsverify -q --files-from=- 2>err <pipe 3>&- &
    local pid=$!
    exec 5>pipe
    sleep 0.3
    kill -USR1 $pid
    sleep 0.2
    echo r >&5
    exec 5>&-
    wait $pid
    assert_equal "$(wc -l <err)" 1
}

# --- dry run and repetition -------------------------------------------------

@test "-n changes nothing, and what has been done is not done again" {
    repo r 2 linear
    run same_tree r fsconvert -n r
    assert_success
    assert_line --partial 'would change'
    run fsconvert -q r
    assert_success
    run same_tree r fsconvert r
    assert_success
    assert_line --partial 'nothing to do'
    run same_tree r fsconvert --dry-run --undo r
    assert_success
    run fsconvert -n --forget r
    assert_line --partial 'would forget 1 record'
    run same_tree r fsconvert --resume r
    assert_success
    run fsconvert --undo --mode=rename r
    assert_success
    assert_equal "$(cat r/db/format)" 2
    run same_tree r fsconvert --undo r
    assert_success
}

@test "reading commands write nothing at all" {
    repo r 2 linear
    run same_tree r fsdetect --full r
    assert_success
    run same_tree r fsverify r
    assert_success
}

@test "a copy is refused where something lies, unless --force" {
    repo r 2 linear
    mkdir other
    run fsconvert r other
    assert_failure 8
    run fsconvert --force r other
    assert_failure 8
    cp -a r there
    run fsconvert r there
    assert_failure 8
    run fsconvert -q --force r there
    assert_success
    assert_equal "$(tail -1 there/db/format)" 'layout sharded 1000'
    run fsverify -q there
    assert_success
    run fsconvert r r
    assert_failure
    run fsconvert -q --no-proof r fresh
    assert_success
}

# --- completions ------------------------------------------------------------

# complete_as WORD...: what bash offers for the last word, one a line.
complete_as() {
    local command=$1
    # shellcheck disable=SC1090
    . "$TOP/completions/bash/$command"
    # shellcheck disable=SC2317 # the completion calls it
    compopt() { :; }
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    "_$command"
    printf '%s\n' "${COMPREPLY[@]}"
}

@test "bash completes options, their words and paths" {
    touch path
    run complete_as fsconvert --lay
    assert_output --layout=
    run complete_as fsconvert --mode = l
    assert_output link
    run complete_as fsconvert --mode =
    assert_output $'link\nrename'
    run complete_as fsdetect --progress al
    assert_output always
    run complete_as fsverify --files-from = pa
    assert_output path
    run complete_as fsverify pa
    assert_output path
}
