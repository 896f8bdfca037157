// Mocha's spec reporter that also writes a JSON report for run.mjs: the counts, and mocha's final text with the
// failures.
const { writeFileSync } = require('node:fs');
const { format } = require('node:util');
const { reporters, Runner } = require('mocha');

/** Milliseconds until the process must end after its last test. */
const LEAVE_WITHIN = 30_000;

/** Milliseconds for the current test and its hooks after SIGTERM. Nodes of the tests end with the process. */
const STOP_WITHIN = 10_000;

module.exports = class CountingReporter extends reporters.Spec {
  #lines = [];

  constructor(runner, options) {
    super(runner, options);
    const report = ({ passes, failures, pending }) =>
      writeFileSync(
        options.reporterOptions.output,
        JSON.stringify({ passes, failures, pending, end: this.#lines.join('\n') }),
      );
    // Reports at once: the current test may not end in time.
    process.once('SIGTERM', () => {
      this.stats.duration = Date.now() - this.stats.start;
      this.epilogue();
      report(this.stats);
      this.#lines = [];
      runner.abort();
      setTimeout(() => process.exit(), STOP_WITHIN).unref();
    });
    runner.once(Runner.constants.EVENT_RUN_END, () => {
      const { passes, failures, pending } = this.stats;
      report(this.stats);
      // Open resources would keep the run from ending. That is a failure, and part of the report because
      // mocha sets the exit status itself.
      setTimeout(() => {
        this.#lines.push(`left open after the last test: ${process.getActiveResourcesInfo().join(', ')}`);
        report({ passes, failures: failures + 1, pending });
        process.exit();
      }, LEAVE_WITHIN).unref();
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
