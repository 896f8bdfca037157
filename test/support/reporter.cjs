// Mocha's spec reporter that also writes a JSON report for run.mjs: the counts, the skipped and the failed tests, and
// mocha's final text with the failures.
const { readdirSync, readFileSync, writeFileSync } = require('node:fs');
const { createHook, executionAsyncResource } = require('node:async_hooks');
const { format } = require('node:util');
const { reporters, Runner } = require('mocha');

// Reporter options of the same names, such as `stopWithin=500`, replace these.
const WITHIN = {
  /** Milliseconds until the process must end after its last test. */
  leaveWithin: 30_000,
  /** Milliseconds in which timers that are left then are watched, to name them. */
  watchWithin: 5_000,
  /** Milliseconds for the current test and its hooks after SIGTERM. Nodes of the tests end with the process. */
  stopWithin: 10_000,
};

/** Command lines of the living child processes, where the system tells them (Linux). */
function commandsOfChildren() {
  try {
    return readdirSync('/proc/self/task')
      .flatMap((thread) => readFileSync(`/proc/self/task/${thread}/children`, 'utf8').split(' '))
      .filter((pid) => pid !== '')
      .map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim());
  } catch {
    return [];
  }
}

/** The functions of timers that fire from now on. @returns asked for those so far */
function watchTimers() {
  const functions = new Set();
  createHook({
    before() {
      const { _onTimeout: fires } = executionAsyncResource();
      if (typeof fires === 'function') functions.add(`timer ${String(fires).replaceAll(/\s+/g, ' ').slice(0, 200)}`);
    },
  }).enable();
  return () => [...functions];
}

/**
 * Of the files of the given tests, leaves these tests alone.
 * @param tests `{ file, title }`
 * @throws Error when one is not there
 */
function leaveOnly(root, tests) {
  const files = new Set(tests.map(({ file }) => file));
  const wanted = new Set(tests.map(({ file, title }) => `${file} ${title}`));
  const found = new Set();
  const prune = (suite) => {
    suite.tests = suite.tests.filter((test) => {
      const name = `${test.file} ${test.fullTitle()}`;
      if (wanted.has(name)) found.add(name);
      return wanted.has(name) || !files.has(test.file);
    });
    suite.suites.forEach(prune);
  };
  prune(root);
  const missing = [...wanted].filter((name) => !found.has(name));
  if (missing.length > 0) throw new Error(`these tests are not there with peers:\n${missing.join('\n')}`);
}

module.exports = class CountingReporter extends reporters.Spec {
  #lines = [];
  #skipped = [];
  #failed = [];

  constructor(runner, options) {
    super(runner, options);
    const { leaveWithin, watchWithin, stopWithin, only } = { ...WITHIN, ...options.reporterOptions };
    if (only !== undefined) leaveOnly(runner.suite, JSON.parse(readFileSync(only, 'utf8')));
    const report = ({ passes, failures, pending }) =>
      writeFileSync(
        options.reporterOptions.output,
        JSON.stringify({
          passes,
          failures,
          pending,
          skipped: this.#skipped,
          failed: this.#failed,
          end: this.#lines.join('\n'),
        }),
      );
    runner.on(Runner.constants.EVENT_TEST_PENDING, (test) => {
      this.#skipped.push({ file: test.file, title: test.fullTitle() });
    });
    runner.on(Runner.constants.EVENT_TEST_FAIL, (test) => {
      this.#failed.push({ file: test.file, title: test.fullTitle() });
    });
    // Reports at once: the current test may not end in time.
    process.once('SIGTERM', () => {
      this.stats.duration = Date.now() - this.stats.start;
      this.epilogue();
      report(this.stats);
      this.#lines = [];
      runner.abort();
      setTimeout(() => process.exit(), Number(stopWithin)).unref();
    });
    runner.once(Runner.constants.EVENT_RUN_END, () => {
      const { passes, failures, pending } = this.stats;
      report(this.stats);
      // Open resources would keep the run from ending. That is a failure, unless a failed test left them, and part of the report
      // because mocha sets the exit status itself.
      setTimeout(() => {
        const left = [...process.getActiveResourcesInfo(), ...commandsOfChildren()];
        const timers = watchTimers();
        setTimeout(() => {
          this.#lines.push(`left open after the last test: ${[...left, ...timers().slice(0, -1)].join(', ')}`);
          report({ passes, failures: Math.max(failures, 1), pending });
          process.exit();
        }, Number(watchWithin));
      }, Number(leaveWithin)).unref();
    });
  }

  /** Goes into the report, which is printed when all lanes have ended. */
  epilogue() {
    const { consoleLog } = reporters.Base;
    reporters.Base.consoleLog = (...args) => void this.#lines.push(format(...args));
    super.epilogue();
    reporters.Base.consoleLog = consoleLog;
  }
};
