#!/usr/bin/env bash
# Stands for runuser(1). The user `ringmaster` is `nobody` where the tests run as root, else the tester; a PostgreSQL server of the
# tests is at PGHOST.
set -e
[[ $1 == -u && $3 == -- ]]
user=$2
shift 3
if [[ $user == postgres ]]; then PGUSER=postgres exec "$@"; else exec $AS_RINGMASTER "$@"; fi
