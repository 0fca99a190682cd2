#!/usr/bin/env python3
"""Judges what onrush says of loads of which is known what bounds them.

    verdicts.py truth [NAME...]               measure the truth of loads and write it to loads.toml
    verdicts.py judge [NAME...] [--times 3]   run each load, and compare the verdict with the right answer
    verdicts.py smoke [NAME...]               start each server and run each load for a second; nothing is judged
    verdicts.py list                          the loads, what is asked and the right answers

loads.toml says what each field means, targets.py has the servers. A NAME may be a pattern: 'pool-*'. Each run has a
server of its own, started on a free port of 127.0.0.1 and ended by its id, also on Ctrl-C. What is missing is
installed (Debian packages as root, Python packages into the folder); loads whose server could not be had are named at
the end. --folder DIR keeps what was installed and built, else it is a temporary folder that is removed.

`truth` runs `onrush -z 4s -c N` with half of the users, as many and twice as many; of an open load, enough users to
find the limit of the server. It tells where the answer of loads.toml and what was measured do not agree. Measure on a
machine that does nothing else.

`judge` prints: name | answer: truth | kind | sentence | right, unknown, `unknown!` or OPPOSITE. It exits with 1 if any
is opposite. It is unknown where the verdict says so (`unknown!`: where the load tells more than that), and opposite
where it is neither the answer nor one of `also`, or where its sentence advises what the answer rules out (`ADVICE`).
"""
import argparse, datetime, fnmatch, json, os, re, shutil, signal, socket, sys, tempfile, threading, time, tomllib

from targets import HERE, TARGETS, Missing, Rig, remove

LOADS = f"{HERE}/loads.toml"
CORES = len(os.sched_getaffinity(0))
SECONDS_MAX = 6
PATIENCE_S = 40  # For a load of 6 s, what comes behind it, and what is in flight at the end.
ANSWERS = {"target", "fewer", "kept", "refuses", "outage", "starved", "queue", "generator", "machine"}
ANSWERS |= {"connections", "unknown"}

# What the JSON report says -> the answer that it gives. A kind that is not here is taken as it is.
KINDS = {"plan_kept": "kept", "below": "fewer", "users": "fewer", "ports_or_descriptors": "ports"}
EVIDENCE = {"lost_syns": "queue", "refusals": "refuses", "outage": "outage", "stalled": "outage", "starved": "starved"}

# What no sentence may say where this is the answer.
MORE = r"may give more|raise (the )?connections|they pause"
ADVICE = {
    "target": MORE, "machine": MORE, "generator": MORE,
    "refuses": rf"{MORE}|plan was kept", "queue": rf"{MORE}|plan was kept",
    "outage": rf"{MORE}|plan was kept", "starved": rf"{MORE}|plan was kept",
}


def read_loads(names):
    with open(LOADS, "rb") as f:
        loads = tomllib.load(f)["load"]
    if len({load["name"] for load in loads}) != len(loads):
        raise SystemExit("loads.toml: two loads have one name")
    for load in loads:
        wrong = {load["answer"], *load["also"]} - ANSWERS
        if wrong or load["server"] not in TARGETS:
            raise SystemExit(f"loads.toml: {load['name']}: {wrong or load['server']} is not known")
        if seconds_of(load["words"]) > SECONDS_MAX:
            raise SystemExit(f"loads.toml: {load['name']} takes longer than {SECONDS_MAX}s")
    unknown = [n for n in names if not any(fnmatch.fnmatch(load["name"], n) for load in loads)]
    if unknown:
        raise SystemExit(f"no such load: {', '.join(unknown)}")
    return [load for load in loads if not names or any(fnmatch.fnmatch(load["name"], n) for n in names)]


def value_of(words, flag):
    """The value of a flag in a command line, or None."""
    words = words.split()
    return words[words.index(flag) + 1] if flag in words else None


def seconds_of(words):
    times = [value_of(words, "-z"), value_of(words, "--warmup")]
    times += [stage.split(":")[1] for stage in (value_of(words, "--stages") or value_of(words, "--user-stages") or "").split(",") if stage]
    return sum(float(each.removesuffix("s")) for each in times if each)


def is_open(load):
    """Whether starts come at a rate, however fast the target answers."""
    if "file" in load:
        with open(f"{HERE}/scenarios/{load['file']}") as f:
            return "rate:" in f.read()
    words = load["words"].split()
    return "-q" in words or "--stages" in words


def rate_of(load):
    """The highest rate of an open load, in starts a second."""
    if "file" in load:
        with open(f"{HERE}/scenarios/{load['file']}") as f:
            return max(map(float, re.findall(r"rate: ([\d.]+)/s", f.read())))
    stages = value_of(load["words"], "--stages")
    return max(float(s.split(":")[0]) for s in stages.split(",")) if stages else float(value_of(load["words"], "-q"))


def users_of(load):
    return load.get("users") or int(value_of(load["words"], "-c"))


def busy_seconds():
    """How long the cores of this machine have been busy, all together."""
    with open("/proc/stat") as f:
        ticks = list(map(int, f.readline().split()[1:]))
    return (sum(ticks[:8]) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


def others_busy():
    """How many cores are busy with what is not ours."""
    busy, start = busy_seconds(), time.monotonic()
    time.sleep(1)
    return (busy_seconds() - busy) / (time.monotonic() - start)


class Bench:
    """Runs loads, each on a server of its own."""

    def __init__(self, rig):
        self.rig, self.missing = rig, {}

    def with_server(self, load, do, generator_is_free=False):
        """Starts the server of a load, bounded as the load says, and gives what `do(url, server, cgroup)` gives.

        None when the server could not be had. The cgroup is the one of the generator, or None.
        """
        is_over, bounds = threading.Event(), load.get("cgroup")
        try:
            how = {"cgroup": self.rig.cgroup(0.3)} if bounds == "target" else {}
            group = self.rig.cgroup(0.3) if bounds == "generator" and not generator_is_free else None
            url = TARGETS[load["server"]](self.rig, how)
            server = self.rig.started[0]
            if load.get("stops") == "target":
                self.rig.stops(server, is_over)
            return do(url, server, group)
        except Missing as e:
            self.missing[load["name"]] = str(e)
            return None
        finally:
            is_over.set()
            self.rig.end_all()

    def run(self, load, words, is_plain=False, generator_is_free=False):
        """The JSON report of one run, with what the server `printed` and how many cores were `busy`.

        None if there is none. With `is_plain` the path of the load is asked, without its scenario file.
        """
        def do(url, server, group):
            if "file" in load and not is_plain:
                asked = ["run", f"{HERE}/scenarios/{load['file']}", "--var", f"target={url}", *words]
            else:
                asked = [*words, url + load["path"]]
            report, is_over = self.rig.path("report.json"), threading.Event()
            remove(report)
            output = ["--json", report, "--quiet", "--no-save", "--lang", "en"]
            busy, start = busy_seconds(), time.monotonic()
            process = self.rig.start([self.rig.onrush, *asked, *output], cgroup=group)
            if load.get("stops") == "generator" and not generator_is_free:
                self.rig.stops(process, is_over)
            while process.poll() is None and time.monotonic() < start + PATIENCE_S:
                time.sleep(0.02)
            is_over.set()
            busy, wall = busy_seconds() - busy, time.monotonic() - start
            if process.poll() is None or not os.path.exists(report):
                with open(process.output, errors="replace") as f:
                    print(f"{load['name']}: no report: {f.read()[-300:].strip()}", file=sys.stderr)
                return None
            with open(report) as f, open(server.output, errors="replace") as log:
                return dict(json.load(f), printed=log.read(), busy=busy / wall)
        return self.with_server(load, do, generator_is_free)


def rate_succeeded(report):
    """Successes a second of what ended inside the planned time."""
    requests = report["requests"]
    ended = requests["succeeded"] + requests["failed"]
    return report["requests_per_s"] * requests["succeeded"] / ended if ended else 0.0


def round3(number):
    return float(f"{number:.3g}")


def starving(url, users, seconds):
    """How many of the clients get no response in the seconds, while each sends requests on one connection."""
    host, port = re.match(r"http://([\d.]+):(\d+)", url).groups()
    answers = [0] * users

    def client(i):
        until = time.monotonic() + seconds
        try:
            with socket.create_connection((host, int(port)), timeout=seconds) as s:
                while (left := until - time.monotonic()) > 0:
                    s.settimeout(left)
                    s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                    if not s.recv(65536):
                        return
                    answers[i] += 1
        except OSError:
            pass  # Nothing came in time.

    threads = [threading.Thread(target=client, args=(i,), daemon=True) for i in range(users)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds + 5)
    return answers.count(0)


def measure(bench, load, seconds):
    """The truth of a load as a table, or None."""
    keep, truth = load.get("keep", "").split(), {}
    if is_open(load):
        users = {"limit": load.get("alone", 40)}
    else:
        same = users_of(load)
        users = {"half": same // 2, "same": same, "twice": same * 2}
    for which, count in users.items():
        if not count:
            continue
        words = ["-c", str(count), "-z", f"{seconds:g}s", *keep]
        is_plain = is_open(load) or load.get("plain", False)
        report = bench.run(load, words, is_plain=is_plain, generator_is_free=True)
        if report is None:
            return None
        truth[which] = round3(rate_succeeded(report))
        if which in ("same", "limit"):
            truth |= around(report)
    if load["answer"] == "starved":
        unanswered = bench.with_server(load, lambda url, *_: starving(url, same, seconds))
        truth["unanswered"] = unanswered or 0
    return truth


def around(report):
    """What else is true of a run: shares, cores, and when the server was down."""
    requests = report["requests"]
    truth = {
        "success": round3(requests["succeeded"] / max(1, requests["succeeded"] + requests["failed"])),
        "busy": round3(report["busy"]),
        "generator": round3(report["generator"]["cpu_s"] / report["wall_s"]),
    }
    for word in ("down", "up"):
        if found := re.search(rf"^{word} ([\d.]+)", report["printed"], re.M):
            truth[word] = round3(float(found[1]))
    return truth


def agrees(load, truth):
    """What the measured truth says against the answer of a load; an empty text when nothing."""
    answer, same, twice, half = load["answer"], truth.get("same"), truth.get("twice"), truth.get("half")
    if answer in ("target", "refuses") and same and twice > 1.1 * same:
        return "twice as many users get more"
    if answer == "target" and not same and truth["limit"] > 1.05 * rate_of(load):
        return "the server can do more"
    if answer == "fewer" and same and twice < 1.2 * same and (not half or half > 0.8 * same):
        return "twice and half as many users get the same"
    if answer == "kept" and not same and truth["limit"] < rate_of(load):
        return "the server cannot do that"
    if answer == "refuses" and truth["success"] > 0.99:
        return "all succeeds"
    if answer == "machine" and truth["busy"] < 0.9 * CORES:
        return f"{truth['busy']} of {CORES} cores were busy"
    if answer == "starved" and not truth["unanswered"]:
        return "every user gets an answer"
    if answer == "outage" and load["server"] == "node" and "down" not in truth:
        return "the server did not go down"
    return ""


def write_truth(name, truth):
    """Puts the truth of a load into the file; all else stays as it is."""
    with open(LOADS) as f:
        text = f.read()
    order = sorted(truth, key=lambda k: k not in ("half", "same", "twice", "limit"))
    line = "truth = { " + ", ".join(f"{k} = {truth[k]:g}" for k in order) + " }"
    pattern = rf'(?ms)^(name = "{re.escape(name)}"$.*?)^truth = .*?$'
    new, count = re.subn(pattern, lambda found: found[1] + line, text, count=1)
    if count != 1:
        raise SystemExit(f"loads.toml: {name} has no line for its truth")
    with open(f"{LOADS}.new", "w") as f:
        f.write(new)
    os.replace(f"{LOADS}.new", LOADS)


def shown(truth):
    known = [f"{k} {truth[k]:g}" for k in ("half", "same", "twice", "limit", "unanswered", "down", "up") if k in truth]
    if truth.get("success", 1) < 0.995:
        known.append(f"success {truth['success']:.1%}")
    return ", ".join(known) or "not measured"


def answer_of(verdict):
    """The answer that a verdict gives."""
    evidence = EVIDENCE.get(verdict["evidence"]) if verdict["kind"] == "target" else None
    return evidence or KINDS.get(verdict["kind"], verdict["kind"])


def judged(load, kind, sentence):
    """right, unknown, unknown! (where more could be known) or OPPOSITE."""
    if re.search(ADVICE.get(load["answer"], r"(?!)"), sentence):
        return "OPPOSITE"
    if kind == "unknown":
        return "unknown" if "unknown" in load["also"] else "unknown!"
    return "right" if kind in (load["answer"], *load["also"]) else "OPPOSITE"


def truth(bench, loads, args):
    against = 0
    for load in loads:
        found = measure(bench, load, args.seconds)
        if found is None:
            print(f"{load['name']:26s} could not be measured", flush=True)
            continue
        objection = agrees(load, found)
        against += bool(objection)
        if not args.dry:
            write_truth(load["name"], found)
        told = f"DOES NOT AGREE with {load['answer']}: {objection}" if objection else load["answer"]
        print(f"{load['name']:26s} {shown(found)}, busy {found['busy']:g} of {CORES} cores | {told}", flush=True)
    return 1 if against else 0


def judge(bench, loads, args):
    counts, rows = {}, []
    for load in loads:
        for _ in range(args.times):
            report = bench.run(load, load["words"].split())
            if load["name"] in bench.missing:
                break
            if report is None:
                kind, sentence, mark = "-", "no report", "OPPOSITE"
            else:
                verdict = report["verdict"]
                kind, sentence = answer_of(verdict), verdict["text"]
                mark = judged(load, kind, sentence)
            counts[mark] = counts.get(mark, 0) + 1
            rows.append(dict(name=load["name"], answer=load["answer"], kind=kind, mark=mark, sentence=sentence,
                             verdict=report and report["verdict"], per_s=report and report["requests_per_s"]))
            known = f"{load['answer']}: {shown(load['truth'])}"
            print(f"{load['name']:24s} | {known} | {kind} | {sentence} | {mark}", flush=True)
    print(", ".join(f"{count} {mark}" for mark, count in sorted(counts.items())) or "nothing was run")
    if args.json:
        with open(args.json, "w") as f:
            json.dump({"began": args.began, "runs": rows, "missing": bench.missing}, f, indent=1)
    return 1 if counts.get("OPPOSITE") else 0


def smoke(bench, loads, args):
    """Each load for a second (a scenario of several loads as it is), to see that servers and command lines work."""
    broken = 0
    for load in loads:
        words = re.sub(r"(-z) \S+", r"\1 1s", load["words"])
        if "file" in load and not is_open(load):
            words += " -z 1s"
        report = bench.run(load, words.split())
        if report is None:
            broken += load["name"] not in bench.missing
            print(f"{load['name']:24s} | {bench.missing.get(load['name'], 'NO REPORT')}", flush=True)
            continue
        requests, verdict = report["requests"], report["verdict"]
        kind = verdict.get("kind") or verdict["limit"]
        told = f"{rate_succeeded(report):.0f}/s succeeded; {requests['failed']} failed, {requests['unfinished']} open"
        print(f"{load['name']:24s} | {told} | busy {report['busy']:.2f} | {kind}", flush=True)
    return 1 if broken else 0


def show(_bench, loads, _args):
    for load in loads:
        asked, words = load.get("file") or load["path"], load["words"]
        print(f"{load['name']:24s} {load['server']:13s} {asked:22s} {words:40s} {load['answer']:9s} {load['why']}")
    return 0


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("do", choices=["truth", "judge", "smoke", "list"])
    ask.add_argument("names", nargs="*", metavar="NAME", help="loads; all by default")
    ask.add_argument("--times", type=int, default=3, help="runs of each load (judge)")
    ask.add_argument("--seconds", type=float, default=4, help="of each measurement (truth)")
    ask.add_argument("--dry", action="store_true", help="do not write what was measured (truth)")
    ask.add_argument("--json", default="", help="write all runs with their verdicts to this file (judge)")
    ask.add_argument("--onrush", default=os.environ.get("ONRUSH", f"{HERE}/../../target/release/onrush"))
    ask.add_argument("--folder", default="", help="where to build and install; kept")
    args = ask.parse_intermixed_args()
    args.began = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    loads = read_loads(args.names)
    onrush = shutil.which(args.onrush)
    if not onrush and args.do != "list":
        raise SystemExit(f"{args.onrush} is not there: cargo build --release, or --onrush FILE")
    for each in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(each) != signal.SIG_IGN:
            signal.signal(each, lambda number, _: sys.exit(128 + number))
    other = others_busy() if args.do in ("truth", "judge") else 0
    if other > 0.1 * CORES:
        print(f"this machine has other work: {other:.1f} of {CORES} cores; what follows is affected", file=sys.stderr)
    if args.folder:
        os.makedirs(args.folder, exist_ok=True)
    folder = os.path.abspath(args.folder) if args.folder else tempfile.mkdtemp(prefix="verdicts-")
    bench = Bench(Rig(folder, onrush and os.path.abspath(onrush)))
    try:
        code = {"truth": truth, "judge": judge, "smoke": smoke, "list": show}[args.do](bench, loads, args)
        for name, why in bench.missing.items():
            print(f"left out: {name}: could not be had here: {why}")
        return code
    except KeyboardInterrupt:
        return 130
    finally:
        for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(each, signal.SIG_IGN)  # What was started is ended, however often somebody is impatient.
        bench.rig.end_all()
        if not args.folder:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
