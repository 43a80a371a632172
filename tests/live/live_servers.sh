# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Servers for the repository $WORK/r on a free port of the loopback interface.
# Source this file with $WORK set.
#
#   serve KIND     file, fork, threads or apache; sets URL, SERVER, and AS, the
#                  words before a command that uses the repository directly
#   serve_end
#
# serve exits 77 with a reason in $WORK/why when this machine has no such server.

SERVER='' AS=()

open_port() {
    PORT=$((20000 + RANDOM % 20000))
    ! (: <"/dev/tcp/127.0.0.1/$PORT") 2>/dev/null
}

serve_svn() {
    printf '[general]\nanon-access = write\n' >"$WORK/r/conf/svnserve.conf"
    # -d without a fork of its own, so that it can be ended by its number.
    svnserve -d --foreground "$@" --listen-host 127.0.0.1 \
        --listen-port "$PORT" -r "$WORK" 2>>"$WORK/server.log" &
    SERVER=$!
    URL=svn://127.0.0.1:$PORT/r
}

apache_config() {
    local modules=$1 name file
    echo "ServerRoot $WORK/apache"
    echo "ServerName 127.0.0.1"
    echo "Listen 127.0.0.1:$PORT"
    echo "PidFile $WORK/apache/pid"
    echo "ErrorLog $WORK/server.log"
    echo "Mutex file:$WORK/apache"
    [ "$(id -u)" -ne 0 ] || printf 'User www-data\nGroup www-data\n'
    for name in mpm_event authz_core dav dav_svn; do
        file=$modules/mod_$name.so
        [ -e "$file" ] || { echo "no $file" >"$WORK/why"; return 77; }
        echo "LoadModule ${name}_module $file"
    done
    printf '<Location /r>\n  DAV svn\n  SVNPath %s\n' "$WORK/r"
    printf '  Require all granted\n</Location>\n'
}

serve_apache() {
    local program
    program=$(command -v apache2 || command -v httpd || ls /usr/sbin/apache2) \
        2>/dev/null || { echo 'no Apache here' >"$WORK/why"; return 77; }
    mkdir -p "$WORK/apache"
    apache_config "${APACHE_MODULES:-/usr/lib/apache2/modules}" \
        >"$WORK/apache/conf" || return
    # Its workers leave root behind, so everybody else must as well.
    if [ "$(id -u)" -eq 0 ]; then
        AS=(setpriv --reuid=www-data --regid=www-data --clear-groups)
        chown -R www-data:www-data "$WORK/r"
        chmod 755 "$WORK"
    fi
    "$program" -f "$WORK/apache/conf" -DFOREGROUND 2>>"$WORK/server.log" &
    SERVER=$!
    URL=http://127.0.0.1:$PORT/r
}

serve() {
    local try wait rc
    # shellcheck disable=SC2034 # for whoever loads this
    AS=() SERVER='' URL=file://$WORK/r
    [ "$1" != file ] || return 0
    for try in 1 2 3 4 5; do
        open_port || continue
        rc=0
        case $1 in
            fork) serve_svn ;;
            threads) serve_svn --threads ;;
            apache) serve_apache || rc=$? ;;
        esac
        [ "$rc" -eq 0 ] || return "$rc"
        for wait in {1..50}; do
            ! timeout 10 svn info --non-interactive "$URL" >/dev/null 2>&1 ||
                return 0
            kill -0 "$SERVER" 2>/dev/null || break
            sleep 0.1
        done
        echo "port $PORT: attempt $try failed (waited $wait)" >>"$WORK/server.log"
        serve_end
    done
    echo 'the server did not start' >"$WORK/why"
    return 1
}

serve_end() {
    [ -z "$SERVER" ] || kill "$SERVER" 2>/dev/null || :
    [ -z "$SERVER" ] || wait "$SERVER" 2>/dev/null || :
    SERVER=''
}
