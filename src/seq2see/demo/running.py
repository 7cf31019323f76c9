"""The demo from its first pair to its report."""

from seq2see.demo.corpus import write_pairs, write_test
from seq2see.demo.findings import Findings, find, write_report
from seq2see.demo.parallel import train_both, untrained
from seq2see.demo.plan import Plan, claim
from seq2see.demo.progress import DemoReporter
from seq2see.look.draw.page import check_replaceable


def run(plan: Plan, reporter: DemoReporter, command: str) -> Findings:
    """Does what has not been done yet. `command` is what was typed, for the report."""
    claim(plan)
    check_replaceable(plan.report, "--out")
    if not plan.training_pairs.exists():
        reporter.message(f"making {plan.pairs:,} Korean-English pairs: {plan.training_pairs}")
        write_pairs(plan)
    test = write_test(plan)
    if families := untrained(plan):
        reporter.message(f"training {' and '.join(families)}, a core each")
        train_both(plan, reporter.hear)
        reporter.stop()
    reporter.message(f"translating {len(test):,} unseen sentences with both")
    findings = find(plan, test)
    write_report(findings, plan, command)
    reporter.message(f"written: {plan.report}")
    return findings
