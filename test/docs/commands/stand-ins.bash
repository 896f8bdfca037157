# What the reader's machine has and a test has not, for the commands of the pages. Everything else is the real program.
# MACHINE: folder that stands for / ; BASE: address of its node; AS_RINGMASTER: prefix that runs a program as another user, or nothing.
set -eo pipefail
REFUSED=$MACHINE/refused
: > "$REFUSED"
export PATH=$MACHINE/usr/local/sbin:$PATH

# Requests are sent, and refused ones reported. Of a stream, what comes within a second is read.
curl() {
  local limit=60 out status
  [[ " $* " != *" -N "* ]] || limit=1
  out=$(command curl --max-time $limit -w '\n%{http_code}' "$@") || [[ $? == 28 && $limit == 1 ]] || {
    echo "curl failed: $*" >> "$REFUSED"
    return 0
  }
  status=$(tail -n 1 <<< "$out")
  [[ $status -lt 400 ]] || printf '%s: %s\n' "$*" "$out" >> "$REFUSED"
  sed '$d' <<< "$out"
}

# Programs and users are there already, and what `npm ci` installs is linked into MACHINE.
apt-get() { :; }
useradd() { :; }
npm() {
  case $1 in
    ci) [[ -e node_modules ]] ;;
    sbom) (cd "$(dirname "$(realpath node_modules)")" && command npm "$@") ;;
    *) command npm "$@" ;;
  esac
}

# npx takes half a second to find the project that it is in. It does so once; then the same program runs without it.
npx() {
  if [[ -z $FOUND || $1 != ringmaster ]]; then
    FOUND=yes
    command npx "$@"
  else
    node "$MACHINE/opt/ringmaster/runtime/cli/ringmaster.mjs" "${@:2}"
  fi
}

# `runuser` is in runuser.bash, for scripts too. Files that `install` gives to the user `ringmaster` are those of that stand-in.
install() {
  local args=() owned=
  while (($# > 0)); do
    case $1 in
      -o | -g) owned=yes; shift ;;
      *) args+=("$1") ;;
    esac
    shift
  done
  command install "${args[@]}"
  [[ -z $owned || -z $AS_RINGMASTER ]] || chown nobody:nogroup "${args[-1]}"
}

# The configured servers have no program here, but their files have to be there.
drachtio() { [[ $1 == -f && -s $2 ]]; }
freeswitch() {
  while (($# > 0)); do
    case $1 in
      -conf) [[ -s $2/freeswitch.xml ]]; shift ;;
      -log | -sounds | -recordings) [[ -d $2 ]]; shift ;;
    esac
    shift
  done
}

# The service: ExecStart of the installed unit with its environment, or `npm start` where there is none.
systemctl() {
  [[ $* != "restart drachtio freeswitch" ]] || pair_start
  [[ " $* " == *" ringmaster "* ]] || return 0
  case $1 in
    start) service_start ;;
    stop) service_stop ;;
    restart) service_stop; service_start ;;
    status) kill -0 "$SERVICE" ;;
  esac
}
# The embedded servers, with the secrets of the rendered configuration.
pair_start() {
  local conf=$MACHINE/etc/ringmaster-pair secret password
  secret=$(sed -n 's/.*<admin.* secret="\([^"]*\)".*/\1/p' "$conf/drachtio.conf.xml")
  password=$(sed -n 's/.*name="password" value="\([^"]*\)".*/\1/p' "$conf/autoload_configs/event_socket.conf.xml")
  node "$MACHINE/opt/ringmaster/runtime/cli/ringmaster.mjs" embedded --app "127.0.0.1:$PAIR_APP" --secret "$secret" \
    --sip "127.0.0.1:$RINGMASTER_SIP_PORT" --event-socket "127.0.0.1:$PAIR_SOCKET" --password "$password" \
    --media "127.0.0.1:$PAIR_MEDIA" --rtp-ports "$RINGMASTER_RTP_PORTS" < /dev/null > "$MACHINE/pair.log" 2>&1 &
  PAIR=$!
  until grep -q ^ready "$MACHINE/pair.log"; do kill -0 $PAIR; sleep 0.1; done
}
pair_stop() { kill "$PAIR" && wait "$PAIR" || :; }
command -v ss > /dev/null || ss() { :; }
journalctl() { tail -n 50 "$MACHINE/log"; }

service_start() {
  service_run
  service_ready
}
service_run() {
  local unit=$MACHINE/etc/systemd/system/ringmaster.service
  if [[ -e $unit ]]; then
    ( set -a
      # shellcheck disable=SC1090
      [[ ! -e $MACHINE/etc/ringmaster.env ]] || . "$MACHINE/etc/ringmaster.env"
      # shellcheck disable=SC2046
      export $(sed -n 's/^Environment=//p' "$unit" | sed "s#=/#=$MACHINE/#")
      # shellcheck disable=SC2046
      exec $AS_RINGMASTER $(sed -n 's/^ExecStart=//p' "$unit" | sed "s#^/#$MACHINE/#; s# /# $MACHINE/#g") ) < /dev/null >> "$MACHINE/log" 2>&1 &
    SERVICE=$! STOP=$SERVICE
  else
    background 'cd "$MACHINE/opt/ringmaster" && npm start'
  fi
}

# Runs a command as in a terminal of its own: Ctrl-C reaches all of its processes.
background() {
  set -m
  { eval "$1"; } < /dev/null >> "$MACHINE/log" 2>&1 &
  set +m
  SERVICE=$! STOP=-$!
}
# With the unit's Restart=on-failure: on a busy machine a database may not answer in time.
service_ready() {
  local restarts=5
  until command curl -sf "$BASE/healthz" > /dev/null; do
    # The test may have been killed.
    kill -0 "$PPID"
    if ! kill -0 "$SERVICE" 2> /dev/null; then
      (($((restarts--)) > 0)) || { tail -n 5 "$MACHINE/log" >&2; return 1; }
      service_run
    fi
    sleep 0.1
  done
}
service_stop() {
  ! kill -INT -- "$STOP" 2> /dev/null || wait "$SERVICE" || :
}

# Whatever still runs ends with the shell, which ends with the test.
finish() {
  local job
  service_stop
  for job in $(jobs -p); do kill -INT -- "-$job" 2> /dev/null || kill "$job" 2> /dev/null || :; done
  wait
}
trap finish EXIT
