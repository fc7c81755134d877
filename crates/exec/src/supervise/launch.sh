# Starts one command on the far side. Runs inside the shell that read it; set before it are hermes_home,
# hermes_guard, hermes_run, hermes_input (none, pipe, or rows and columns of a terminal), hermes_in (the
# directory) and the command as positional parameters.

hermes_began() {
    hermes_start=0
    { IFS= read -r hermes_line <"/proc/$$/stat"; } 2>/dev/null || return 0
    # The name stands in parentheses and may hold anything; what follows it is numbers.
    # shellcheck disable=SC2086
    set -- ${hermes_line##*) }
    shift 19
    hermes_start=$1
}

hermes_over() {
    { printf 'exit %s %s\n' "$hermes_run" "$1" 1<>"$hermes_home/events"; } 2>/dev/null
    rm -f "$hermes_home/run.$hermes_run"
    exit "$1"
}

hermes_tty=-
case $hermes_input in
none | pipe) ;;
*)
    hermes_tty=$(tty)
    # shellcheck disable=SC2086
    set -- $hermes_input -- "$@"
    stty sane rows "$1" cols "$2"
    shift 3
    ;;
esac

# The guard moves its directory away before it looks for what must end. So either it sees this record, or
# writing it fails and nothing starts.
hermes_began
{ printf '%s %s %s\n' "$$" "$hermes_start" "$hermes_tty" >"$hermes_home/run.$hermes_run"; } 2>/dev/null || exit 143
# Handlers, unlike ignored signals, are not handed down to the command.
trap : HUP INT QUIT TERM
HERMES_RUN=$hermes_guard.$hermes_run.
export HERMES_RUN
printf '\001hermes %s %s\n' "$hermes_run" "$$"

case $hermes_in in
'' | '~') ;;
'~/'*) hermes_in=$HOME/${hermes_in#'~/'} ;;
esac
case $hermes_in in
'') ;;
'~') cd || hermes_over 126 ;;
*) cd -- "$hermes_in" 2>&1 || hermes_over 126 ;;
esac

# Where there is perl, or Python in its place, it adopts what loses its parent while the command runs, so that this is found below the
# launcher even if it gave up everything it could be known by. What is left of that when the command ends goes with it;
# what still holds the record or the mark stays until the guard ends it.
hermes_keep='
delete $ENV{PERL_BADLANG} if shift;
my ($head, $machine) = ("", 0);
if (open my $own, "<", "/proc/self/exe") { read $own, $head, 20 and $machine = unpack "x18 v", $head }
my $prctl = $machine == 62 ? 157 : $machine == 183 ? 167 : 0;
sub become { exec @ARGV; print STDERR "cannot start the command: $!\n"; exit 126 }
become() unless $prctl && syscall($prctl, 36, 1, 0, 0, 0) == 0;
my $command = fork;
become() unless $command;
$SIG{$_} = "IGNORE" for qw(HUP INT QUIT TERM);
my $status = 0;
while ((my $ended = wait) > 0) { if ($ended == $command) { $status = $?; last } }
sub loose {
    my $held = readlink "/proc/$_[0]/fd/9";
    return if defined $held and $held =~ m{/hermes-[^/]*/run\.[^/]*$};
    open my $file, "<", "/proc/$_[0]/environ" or return;
    local $/;
    my $environ = <$file>;
    return !defined $environ || index($environ, "HERMES_RUN=$ENV{HERMES_RUN}") < 0;
}
for (1 .. 100) {
    open my $file, "<", "/proc/$$/task/$$/children" or last;
    my @left = grep { loose($_) } split " ", <$file> // "";
    last unless @left;
    kill "KILL", @left;
    select undef, undef, undef, 0.01;
    1 while waitpid(-1, 1) > 0;
}
exit($status & 127 ? 128 + ($status & 127) : $status >> 8);
'
# The same in Python, which changes a variable and two signals for its own use: the command gets them as they were.
hermes_keep_python='
import ctypes, os, re, signal, sys, time
if not sys.argv[1]: os.environ.pop("LC_CTYPE", None)
mark = ("HERMES_RUN=" + os.environ["HERMES_RUN"]).encode()
def become():
    for one in (signal.SIGPIPE, signal.SIGXFSZ): signal.signal(one, signal.SIG_DFL)
    try: os.execvp(sys.argv[2], sys.argv[2:])
    except OSError as error: os.write(2, b"cannot start the command: %s\n" % os.strerror(error.errno).encode())
    os._exit(126)
if ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) != 0: become()
command = os.fork()
if command == 0: become()
for one in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM): signal.signal(one, signal.SIG_IGN)
ended = 0
while ended != command: ended, status = os.wait()
def loose(pid):
    try:
        if re.search("/hermes-[^/]*/run[.][^/]*$", os.readlink("/proc/%s/fd/9" % pid)): return False
    except OSError: pass
    try: return mark not in open("/proc/%s/environ" % pid, "rb").read()
    except OSError: return False
for look in range(100):
    try: left = open("/proc/self/task/%d/children" % os.getpid()).read().split()
    except OSError: break
    left = [pid for pid in left if loose(pid)]
    if not left: break
    for pid in left:
        try: os.kill(int(pid), signal.SIGKILL)
        except OSError: pass
    time.sleep(0.01)
    try:
        while os.waitpid(-1, os.WNOHANG)[0] > 0: pass
    except OSError: pass
os._exit(128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))
'
hermes_quiet=PERL_BADLANG=0
[ -z "${PERL_BADLANG+set}" ] || hermes_quiet=''
if [ -e "$hermes_home/perl" ]; then
    # shellcheck disable=SC2086
    set -- $hermes_quiet perl -e "$hermes_keep" "$hermes_quiet" env "$@"
elif [ -e "$hermes_home/python" ]; then
    set -- python3 -I -S -c "$hermes_keep_python" "${LC_CTYPE+set}" env "$@"
fi

# The record goes along as an open file: who drops the environment and leaves the session still holds it.
# Through env, so that no builtin or function of this shell is meant by the name.
case $hermes_input in
none) env "$@" </dev/null 2>&1 9<"$hermes_home/run.$hermes_run" ;;
pipe) env "$@" 2>&1 9<"$hermes_home/run.$hermes_run" ;;
*) env "$@" 9<"$hermes_home/run.$hermes_run" ;;
esac
hermes_over $?
