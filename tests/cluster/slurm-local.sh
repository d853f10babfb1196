#!/bin/bash
# slurm-local.sh start|stop|status|env: a real one-node Slurm (munged, slurmctld, slurmd) on loopback, for tests/cluster.
# Debian's packages, as root; needs no systemd, cgroups or database. All its files are in SLURM_LOCAL_DIR.
#   export SLURM_LOCAL_DIR=/tmp/sl; ./slurm-local.sh start && eval "$(./slurm-local.sh env)" && sinfo; ./slurm-local.sh stop
# HARDLABELS_INSTALL_SLURM=1 lets it install the packages. Exit code 77: it cannot be here, for the reason on standard error.
set -euo pipefail
umask 022
D=${SLURM_LOCAL_DIR:-/tmp/slurm-local} PORT=${SLURM_LOCAL_PORT:-6817} CPUS=${SLURM_LOCAL_CPUS:-2} GPUS=${SLURM_LOCAL_GPUS:-0}
export SLURM_CONF=$D/slurm.conf

cannot() { echo "$1" >&2; exit 77; }
there() { command -v munged && command -v slurmctld && command -v slurmd && command -v sbatch; } >/dev/null
alive() {  # the recorded pid lives, and is this daemon of this directory
  local p; p=$(cat "$D/$1.pid" 2>/dev/null) && [ "$(cat "/proc/$p/comm" 2>/dev/null)" = "$1" ] && grep -qsaF "$D/" "/proc/$p/cmdline"
}
run() {  # run DAEMON ARGS...: unless alive, in a session of its own; it records its own pid, then execs
  if alive "$1"; then return; fi
  setsid bash -c 'echo $$ >"$0/$1.pid"; exec "$@"' "$D" "$@" </dev/null >>"$D/$1.out" 2>&1 &
}
up_when() {  # up_when DAEMON CONDITION: 30 s at most, and no longer than the daemon lives
  local i; for i in $(seq 150); do sleep 0.2; eval "$2" && return; [ "$i" -lt 5 ] || alive "$1" || break; done
  echo "$1 did not come up; the end of $D/$1.out:" >&2; tail -n 15 "$D/$1.out" >&2; exit 1
}
install() {
  [ "${HARDLABELS_INSTALL_SLURM:-}" = 1 ] || cannot "Slurm is not installed (HARDLABELS_INSTALL_SLURM=1 lets this script do it)"
  command -v apt-get >/dev/null || cannot "Slurm is not installed, and there is no apt-get to install it with"
  export DEBIAN_FRONTEND=noninteractive
  { timeout 120 apt-get update -qq && timeout 240 apt-get install -qq -y --no-install-recommends munge slurmctld slurmd slurm-client; } \
    >"$D/apt.out" 2>&1 || cannot "apt-get cannot install Slurm: $(tail -n 1 "$D/apt.out")"
}
write_conf() {
  local h i comm=; h=$(hostname -s)
  # loopback alone, but only where this host's name is 127.0.0.1: with NoInAddrAny Slurm binds to what the name resolves to
  case $(getent ahostsv4 "$(hostname)" || true) in 127.0.0.1\ *) comm=CommunicationParameters=NoInAddrAny,NoCtldInAddrAny ;; esac
  mkdir -p "$D/bin" "$D/state" "$D/spool"
  [ -s "$D/munge.key" ] || (umask 277; head -c 1024 /dev/urandom >"$D/munge.key")
  cat >"$D/slurm.conf" <<CONF
ClusterName=local
SlurmctldHost=$h(127.0.0.1)
SlurmctldPort=$PORT
SlurmdPort=$((PORT + 1))
$comm
SlurmUser=root
# cred_expire is also how long a requeued job waits before it may start again: 120 s unless set; 5 works, 2 is refused
AuthInfo=socket=$D/munge.sock,cred_expire=5
StateSaveLocation=$D/state
SlurmdSpoolDir=$D/spool
SlurmctldPidFile=$D/slurmctld.pidfile
SlurmdPidFile=$D/slurmd.pidfile
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1
# job ids do not come back after a restart: submitit would take an old result file of the same id for the new one
FirstJobId=$(($(date +%s) % 60000000 + 1))
MinJobAge=3600
KillWait=5
ReturnToService=2
# refuse at once what no node could ever run
EnforcePartLimits=ALL
# a job in "urgent" preempts those in "test": their --signal, up to GraceTime seconds, then a requeue
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SlurmctldParameters=preempt_send_user_signal
# believe the CPUs written here, not the hardware
SlurmdParameters=config_overrides
GresTypes=gpu
NodeName=localhost NodeHostname=$h NodeAddr=127.0.0.1 CPUs=$CPUS RealMemory=$(awk '/MemTotal/{print int($2/1024)}' /proc/meminfo) Gres=gpu:$GPUS
PartitionName=test Nodes=localhost Default=YES MaxTime=INFINITE PriorityTier=1 GraceTime=20
PartitionName=urgent Nodes=localhost MaxTime=INFINITE PriorityTier=10 PreemptMode=OFF
CONF
  : >"$D/gres.conf"; for ((i = 0; i < GPUS; i++)); do rm -f "$D/gpu$i"; mknod "$D/gpu$i" c 1 3; echo "Name=gpu File=$D/gpu$i" >>"$D/gres.conf"; done
  # There is no accounting, and submitit asks sacct (-o JobID,State,NodeList --parsable2 -j ID ...): answered by slurmctld's memory.
  printf '%s\n' '#!/bin/sh' 'echo "JobID|State|NodeList"' \
    'exec squeue -h -a -r -t all -o "%i|%T|%N" -j "$(printf "%s\n" "$@" | grep -xE "[0-9]+" | paste -sd, -)"' >"$D/bin/sacct"
  chmod 755 "$D/bin/sacct"
}
start() {
  [ "$(uname)" = Linux ] || cannot "Slurm's daemons need Linux"
  [ "$(id -u)" = 0 ] || cannot "Slurm's daemons need root"
  [[ $D = /* ]] && [ ${#D} -le 60 ] || { echo "SLURM_LOCAL_DIR must be absolute and at most 60 characters (unix sockets)" >&2; exit 1; }
  mkdir -p "$D"
  there || install
  alive slurmctld || write_conf
  run munged -F -f --key-file="$D/munge.key" --socket="$D/munge.sock" --pid-file="$D/munged.pidfile" --seed-file="$D/munged.seed" --log-file="$D/munged.log"
  up_when munged 'munge -n -S "$D/munge.sock" >/dev/null 2>&1'
  run slurmctld -D -c -f "$D/slurm.conf"
  up_when slurmctld 'scontrol ping 2>/dev/null | grep -q UP'
  run slurmd -D -N localhost -f "$D/slurm.conf"
  up_when slurmd 'sinfo -h -o %T 2>/dev/null | grep -qxE "idle|mixed|allocated|completing"'
  up_when slurmd 'timeout 20 srun -n 1 true 2>/dev/null'  # idle does not mean able
  status
}
stop() {
  local d i
  if alive slurmctld && alive munged; then  # jobs' processes outlive slurmd: end the jobs first
    squeue -h -o %A | sort -u | xargs -r scancel || true
    for i in $(seq 75); do [ -n "$(squeue -h)" ] || break; sleep 0.2; done
  fi
  for d in slurmd slurmctld munged; do
    alive $d && kill "$(cat "$D/$d.pid")" || continue
    for i in $(seq 75); do alive $d || break; sleep 0.2; done
    if alive $d; then kill -9 "$(cat "$D/$d.pid")"; fi
  done
  rm -rf "$D"/{slurmd,slurmctld,munged}.pid "$D/state" "$D/spool" "$D"/munge.sock*
  echo stopped
}
status() {
  local d rc=0
  for d in munged slurmctld slurmd; do if alive $d; then echo "$d up, pid $(cat "$D/$d.pid")"; else echo "$d down"; rc=3; fi; done
  [ $rc != 0 ] || { sinfo; squeue; }
  return $rc
}
case ${1:-} in
  start | stop | status) "$1" ;;
  env) echo "export SLURM_CONF='$D/slurm.conf' PATH='$D/bin':\"\$PATH\"" ;;
  *) sed -n 2,5p "$0"; exit 2 ;;
esac
