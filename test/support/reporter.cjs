// Mocha's spec reporter, and for whoever prints the summary a report as JSON: the counts, and the text that mocha ends with,
// where the failures are.
const { writeFileSync } = require('node:fs');
const { format } = require('node:util');
const { reporters, Runner } = require('mocha');

/** Milliseconds which the process may go on after its last test. */
const LEAVE_WITHIN = 30_000;

/** Milliseconds for which a test and its hooks may go on after SIGTERM. Nodes of the tests end with the process. */
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
    // What is known so far, at once: the test that runs may not end in time.
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
      // What a test leaves open would keep the run from ever ending: that is a failure, told in the report because
      // mocha sets the exit status itself.
      setTimeout(() => {
        this.#lines.push(`left open after the last test: ${process.getActiveResourcesInfo().join(', ')}`);
        report({ passes, failures: failures + 1, pending });
        process.exit();
      }, LEAVE_WITHIN).unref();
    });
  }

  /** Goes into the report, to be printed when every lane has ended. */
  epilogue() {
    const { consoleLog } = reporters.Base;
    reporters.Base.consoleLog = (...args) => void this.#lines.push(format(...args));
    super.epilogue();
    reporters.Base.consoleLog = consoleLog;
  }
};
