"""The servers that the loads of loads.toml go to. Each is started anew for a run, on a free port of 127.0.0.1.

A `Rig` has a folder, starts processes, and ends each of them by its id. A function in `TARGETS` starts one server and
gives its address. What is missing is installed: packages of Debian by apt-get (as root, no service is started),
packages of Python by pip into a folder of the rig. `Missing` says what could not be had, and its loads are left out.
"""
import glob, os, pwd, re, shutil, signal, socket, subprocess, sys, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = f"{HERE}/programs"
PLACES = ["/usr/sbin", "/usr/local/go/bin", "/usr/lib/postgresql/*/bin"]
FIRST_CORE = str(min(os.sched_getaffinity(0)))


class Missing(Exception):
    """Something that a server needs is not here and could not be installed."""


class Rig:
    """Starts processes and ends them. `onrush` is the program under test, which is a server too."""

    def __init__(self, folder, onrush):
        self.folder, self.onrush, self.started, self.cgroups, self.count = folder, onrush, [], [], 0
        os.chmod(folder, 0o755)  # Workers of nginx and PHP-FPM, and PostgreSQL, are other users.

    def path(self, name):
        return f"{self.folder}/{name}"

    def start(self, command, cpus=None, cgroup=None, **more):
        """Starts a command in a group of its own; its output goes to a file, `output` of the process."""
        if cpus and shutil.which("taskset"):
            command = ["taskset", "-c", cpus, *command]
        if shutil.which("setpriv"):
            command = ["setpriv", "--pdeathsig", "TERM", *command]
        if cgroup:
            command = ["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', cgroup, *command]
        self.count += 1
        output = self.path(f"output-{self.count}")
        env = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", HOME=self.folder, XDG_DATA_HOME=self.folder)
        with open(output, "wb") as f:
            more.update(stdin=subprocess.DEVNULL, stdout=f, stderr=subprocess.STDOUT)
            process = subprocess.Popen(command, env=env, start_new_session=True, **more)
        process.output = output
        self.started.append(process)
        return process

    def end(self, process, word=signal.SIGTERM):
        """Ends a process and what is left of its group."""
        for each, patience in ((word, 3), (signal.SIGKILL, 5)):
            try:
                os.killpg(process.pid, each)
                os.killpg(process.pid, signal.SIGCONT)
            except ProcessLookupError:
                break
            try:
                process.wait(patience)
            except subprocess.TimeoutExpired:
                pass
        process.wait(5)
        self.started.remove(process)

    def end_all(self):
        for process in reversed(self.started[:]):
            try:
                self.end(process)
            except subprocess.TimeoutExpired:
                print(f"process {process.pid} does not end", file=sys.stderr)
        while self.cgroups:
            for _ in range(20):  # It is busy for a moment after its last process has ended.
                try:
                    os.rmdir(self.cgroups[-1])
                    break
                except OSError:
                    time.sleep(0.05)
            self.cgroups.pop()

    def program(self, name, package):
        """Where a program is, a pattern; if it is nowhere, its package is installed."""
        for _ in range(2):
            for place in [*os.environ.get("PATH", "").split(os.pathsep), *PLACES]:
                found = max(glob.glob(f"{place}/{name}"), default=None)
                if found:
                    return found
            if os.geteuid() != 0 or not shutil.which("apt-get"):
                break
            print(f"installing {package}", file=sys.stderr)
            # In this run level invoke-rc.d starts no service.
            env = dict(os.environ, DEBIAN_FRONTEND="noninteractive", RUNLEVEL="1")
            for words in (["update", "-q"], ["install", "-y", "-q", "--no-install-recommends", package]):
                subprocess.run(["apt-get", *words], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        raise Missing(f"{name} (Debian package {package})")

    def python(self, *packages):
        """The interpreter of a folder with these packages."""
        venv, done = self.path("venv"), self.path("venv-" + re.sub(r"\W", "-", "-".join(packages)))
        if not os.path.exists(done):
            print(f"installing {', '.join(packages)}", file=sys.stderr)
            for command in ([sys.executable, "-m", "venv", venv], [f"{venv}/bin/pip", "install", "-q", *packages]):
                tried = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                if tried.returncode:
                    raise Missing(f"{', '.join(packages)} (PyPI): {tried.stderr[-200:]}")
            open(done, "w").close()
        return f"{venv}/bin/python"

    def built(self, source):
        """A program in Go, built once."""
        program = self.path(os.path.basename(source).removesuffix(".go"))
        if not os.path.exists(program):
            command = [self.program("go", "golang-go"), "build", "-o", program, source]
            built = subprocess.run(command, env=dict(os.environ, GO111MODULE="off"), capture_output=True, text=True)
            if built.returncode:
                raise Missing(f"{source} was not built: {built.stderr[-200:]}")
        return program

    def certificate(self, kind):
        """A certificate for 127.0.0.1 and its key; `kind` is what openssl calls the key."""
        files = self.path(f"{kind}-cert.pem".replace(":", "-")), self.path(f"{kind}-key.pem".replace(":", "-"))
        if not os.path.exists(files[0]):
            options = ["-pkeyopt", "ec_paramgen_curve:prime256v1"] if kind == "ec" else []
            openssl = self.program("openssl", "openssl")
            command = [openssl, "req", "-x509", "-newkey", kind, *options, "-nodes", "-days", "2"]
            names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
            subprocess.run([*command, "-out", files[0], "-keyout", files[1], *names], check=True, capture_output=True)
        return files

    def cgroup(self, cores):
        """A group of processes that may use so much of a core (cgroup v2)."""
        with open("/proc/mounts") as f:
            root = next((line.split()[1] for line in f if line.split()[2] == "cgroup2"), None)
        try:
            with open(f"{root}/cgroup.subtree_control") as f:
                if "cpu" not in f.read().split():
                    raise Missing("a cgroup v2 with the cpu controller")
            group = f"{root}/verdicts-{os.getpid()}-{len(self.cgroups)}"
            os.mkdir(group)
            self.cgroups.append(group)
            with open(f"{group}/cpu.max", "w") as f:
                f.write(f"{int(cores * 100000)} 100000")
        except OSError as e:
            raise Missing(f"a cgroup v2 that may be written: {e}") from e
        return group

    def stops(self, process, is_over):
        """Stops the group of a process for 70 of each 100 ms, until `is_over` is set."""
        def go():
            try:
                while not is_over.is_set():
                    os.killpg(process.pid, signal.SIGSTOP)
                    is_over.wait(0.07)
                    os.killpg(process.pid, signal.SIGCONT)
                    is_over.wait(0.03)
            except ProcessLookupError:
                pass  # It has ended.
        thread = threading.Thread(target=go, daemon=True)
        thread.start()
        return thread


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(what, process, seconds=15):
    """Asks `what` until it gives something, while the process runs."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and process.poll() is None:
        found = what()
        if found:
            return found
        time.sleep(0.03)
    with open(process.output, errors="replace") as f:
        raise Missing(f"{' '.join(process.args)[-100:]} did not start: {f.read()[-300:]}")


def said_port(process):
    """The address of a server that prints its port."""
    def look():
        with open(process.output, errors="replace") as f:
            return re.search(r"^(?:port |listening on https?://127\.0\.0\.1:)(\d+)", f.read(), re.M)
    return f"http://127.0.0.1:{wait_for(look, process)[1]}"


def remove(path):
    """Removes what an earlier run has left, if it is there."""
    if os.path.exists(path):
        os.remove(path)


def is_listening(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


def node(rig, how):
    return said_port(rig.start([rig.program("node", "nodejs"), f"{PROGRAMS}/node.js"], **how))


def starves(rig, how):
    return said_port(rig.start([rig.program("node", "nodejs"), f"{PROGRAMS}/starves.js"], **how))


def pool(rig, how):
    return said_port(rig.start([rig.built(f"{PROGRAMS}/pool.go")], **how))


def backlog(rig, how):
    return said_port(rig.start([sys.executable, f"{PROGRAMS}/backlog.py"], **how))


def gunicorn(rig, how):
    port = free_port()
    words = ["--chdir", PROGRAMS, "-w", "4", "-b", f"127.0.0.1:{port}", "--log-level", "warning", "app:app"]
    process = rig.start([rig.python("gunicorn==23.0.0"), "-m", "gunicorn", *words], **how)
    wait_for(lambda: is_listening(port), process)
    time.sleep(0.5)  # The workers come after the socket.
    return f"http://127.0.0.1:{port}"


def rowlock(rig, how):
    """PostgreSQL, which does not run as root, and the program in front of it."""
    data, python = rig.path("postgres/data"), rig.python("psycopg[binary]")
    postgres, initdb = rig.program("postgres", "postgresql"), rig.program("initdb", "postgresql")
    as_user = {}
    if os.geteuid() == 0:
        person = pwd.getpwnam("postgres")
        as_user = dict(user=person.pw_uid, group=person.pw_gid, extra_groups=[])
    where = os.path.dirname(data)
    if not os.path.exists(data):
        os.mkdir(where)
        if as_user:
            os.chown(where, as_user["user"], as_user["group"])
        command = [initdb, "-D", data, "-U", "postgres", "--auth=trust", "--no-sync"]
        subprocess.run(command, check=True, capture_output=True, cwd="/", **as_user)
    remove(f"{where}/.s.PGSQL.5432")
    words = ["-D", data, "-k", where, "-c", "listen_addresses=", "-c", "fsync=off"]
    server = rig.start([postgres, *words], cwd="/", **as_user)
    wait_for(lambda: os.path.exists(f"{where}/.s.PGSQL.5432"), server)
    time.sleep(0.5)
    database = f"host={where} user=postgres dbname=postgres"
    return said_port(rig.start([python, f"{PROGRAMS}/rowlock.py", database], **how))


NGINX = """
worker_processes {workers}; daemon off; pid {dir}/nginx.pid; error_log stderr crit; worker_rlimit_nofile 4096;
events {{ worker_connections 2000; }}
http {{
  access_log off; keepalive_requests 100000000; server_tokens off; default_type text/plain;
  client_body_temp_path {dir}/a; proxy_temp_path {dir}/b; fastcgi_temp_path {dir}/c; uwsgi_temp_path {dir}/d;
  scgi_temp_path {dir}/e;
  limit_req_zone $server_port zone=all:1m rate=200r/s; limit_conn_zone $server_port zone=at_once:1m;
  server {{
    listen 127.0.0.1:{port} {tls} backlog=1024; root {dir}/www;
{locations}
  }}
}}
"""


def nginx(rig, how, locations="", workers=2, tls=""):
    port, www = free_port(), rig.path("www")
    os.makedirs(www, mode=0o755, exist_ok=True)
    with open(f"{www}/page.txt", "w") as f:
        f.write("a static page of 1 KiB\n".ljust(1024, "."))
    if tls:
        certificate, key = rig.certificate(tls)
        locations = f"ssl_certificate {certificate}; ssl_certificate_key {key};\n{locations}"
    config = rig.path(f"nginx-{port}.conf")
    fill = dict(workers=workers, dir=rig.folder, port=port, tls="ssl" if tls else "", locations=locations)
    with open(config, "w") as f:
        f.write(NGINX.format(**fill))
    process = rig.start([rig.program("nginx", "nginx-light"), "-e", "stderr", "-c", config], **how)
    wait_for(lambda: is_listening(port), process)
    time.sleep(0.2)
    return f"{'https' if tls else 'http'}://127.0.0.1:{port}"


def nginx_limits(rig, how):
    """200/s: /refuses with 429, /refuses503 with the status that nginx has for it, /delays lets the rest wait."""
    return nginx(rig, how, """
    location = /refuses { limit_req zone=all burst=20 nodelay; limit_req_status 429; try_files /page.txt =404; }
    location = /refuses503 { limit_req zone=all burst=20 nodelay; try_files /page.txt =404; }
    location = /delays { limit_req zone=all burst=2000; try_files /page.txt =404; }""")


PHP_FPM = """
[global]
daemonize = no
error_log = /dev/stderr
[www]
{user}
listen = {socket}
listen.mode = 0666
listen.backlog = {backlog}
pm = static
pm.max_children = 4
"""


def php_fpm(rig, how, backlog=511):
    """nginx in front of four workers of PHP-FPM: /sleep; /few lets three in at once and refuses others with 503."""
    where, config = rig.path(f"php-{backlog}.sock"), rig.path(f"php-{backlog}.conf")
    program = rig.program("php-fpm*", "php-fpm")
    shutil.copy(f"{PROGRAMS}/sleep.php", rig.path("sleep.php"))
    user = "user = nobody\ngroup = nogroup" if os.geteuid() == 0 else ""
    with open(config, "w") as f:
        f.write(PHP_FPM.format(user=user, socket=where, backlog=backlog))
    remove(where)
    process = rig.start([program, "-n", "-y", config], **how)
    wait_for(lambda: os.path.exists(where), process)
    script = f"fastcgi_param SCRIPT_FILENAME {rig.path('sleep.php')}"
    passes = f"fastcgi_pass unix:{where}; {script}; fastcgi_param REQUEST_METHOD GET;"
    return nginx(rig, {}, f"""
    location = /sleep {{ {passes} }}
    location = /few {{ limit_conn at_once 3; {passes} }}""")


def serve(rig, how):
    return said_port(rig.start([rig.onrush, "serve", "--listen", "127.0.0.1:0"], **how))


TARGETS = {
    "node": lambda rig, how: node(rig, dict(cpus=FIRST_CORE, **how)),
    "starves": lambda rig, how: starves(rig, dict(cpus=FIRST_CORE, **how)),
    "pool": pool,
    "backlog": backlog,
    "gunicorn": gunicorn,
    "postgres": rowlock,
    "nginx": nginx,
    "nginx-limits": nginx_limits,
    "nginx-rsa": lambda rig, how: nginx(rig, dict(cpus=FIRST_CORE, **how), workers=1, tls="rsa:4096"),
    "nginx-ec": lambda rig, how: nginx(rig, how, tls="ec"),
    "php-fpm": php_fpm,
    "php-fpm-short": lambda rig, how: php_fpm(rig, how, backlog=8),
    "serve": serve,
}
