import { writeFileSync } from 'node:fs';
import process from 'node:process';
import { LoadError, LoadRun, reportHtml, reportOf, reportText } from '../load/index.ts';
import { usageOf } from './usage.ts';
import { LOAD_HELP, loadOptions } from './load-options.ts';
import { showProgress } from './load-progress.ts';
import { STOP_SIGNALS } from './signals.ts';

const USAGE = 'ringmaster load [OPTION...]; --help tells the options';

/** The load could not be made. */
const NOT_MADE = 2;
/** Milliseconds in which signals are copies of one: Ctrl-C reaches npx, the launcher and this process. */
const COPIES_MS = 1000;
/** The exit code after a second Ctrl-C. */
const INTERRUPTED = 130;

/** `ringmaster load`: calls at a rate against a node, and a report; exit code 1 when more calls failed than may. */
export async function load(args: readonly string[]): Promise<number> {
  return usageOf(USAGE, args, () => loadAndReport(args), LOAD_HELP);
}

async function loadAndReport(args: readonly string[]): Promise<number> {
  try {
    const { plan, maxFailures, json, html } = await loadOptions(args);
    const run = new LoadRun(plan);
    stopOnSignals(() => run.stop());
    const hide = showProgress(() => run.progress, plan.calls);
    const outcome = await run.run().finally(hide);
    const report = reportOf(outcome, maxFailures);
    process.stdout.write(reportText(report));
    if (json !== undefined) writeFileSync(json, `${JSON.stringify(report, undefined, 2)}\n`);
    if (html !== undefined) writeFileSync(html, reportHtml(report));
    return report.passed ? 0 : 1;
  } catch (error) {
    if (!(error instanceof LoadError)) throw error;
    process.stderr.write(`ringmaster load: ${error.message}\n`);
    return NOT_MADE;
  }
}

/** The first signal ends the calls, a later one the process. */
function stopOnSignals(stop: () => void): void {
  let first: number | undefined;
  for (const signal of STOP_SIGNALS)
    process.on(signal, () => {
      if (first === undefined) {
        first = performance.now();
        stop();
      } else if (signal !== 'SIGHUP' && performance.now() - first >= COPIES_MS) process.exit(INTERRUPTED);
    });
}
