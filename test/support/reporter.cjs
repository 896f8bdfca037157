// Mocha's spec reporter, and for whoever prints the summary a report as JSON: the counts, and the text that mocha ends with,
// where the failures are.
const { writeFileSync } = require('node:fs');
const { format } = require('node:util');
const { reporters, Runner } = require('mocha');

/** Milliseconds which the process may go on after its last test. */
const LEAVE_WITHIN = 30_000;

module.exports = class CountingReporter extends reporters.Spec {
  #lines = [];

  constructor(runner, options) {
    super(runner, options);
    runner.once(Runner.constants.EVENT_RUN_END, () => {
      const { passes, failures, pending } = this.stats;
      const report = (counts) =>
        writeFileSync(options.reporterOptions.output, JSON.stringify({ ...counts, end: this.#lines.join('\n') }));
      report({ passes, failures, pending });
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
