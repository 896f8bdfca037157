// Mocha's spec reporter, and the counts as JSON for whoever prints the summary.
const { writeFileSync } = require('node:fs');
const { reporters, Runner } = require('mocha');

/** Milliseconds which the process may go on after its last test. */
const LEAVE_WITHIN = 30_000;

module.exports = class CountingReporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    runner.once(Runner.constants.EVENT_RUN_END, () => {
      const { passes, failures, pending } = this.stats;
      const report = (counts) => writeFileSync(options.reporterOptions.output, JSON.stringify(counts));
      report({ passes, failures, pending });
      // What a test leaves open would keep the run from ever ending: that is a failure, told in the report because
      // mocha sets the exit status itself.
      setTimeout(() => {
        process.stderr.write(`left open after the last test: ${process.getActiveResourcesInfo().join(', ')}\n`);
        report({ passes, failures: failures + 1, pending });
        process.exit();
      }, LEAVE_WITHIN).unref();
    });
  }
};
