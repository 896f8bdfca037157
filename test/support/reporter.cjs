// Mocha's spec reporter, and the counts as JSON for whoever prints the summary.
const { writeFileSync } = require('node:fs');
const { reporters, Runner } = require('mocha');

module.exports = class CountingReporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    runner.once(Runner.constants.EVENT_RUN_END, () => {
      const { passes, failures, pending } = this.stats;
      writeFileSync(options.reporterOptions.output, JSON.stringify({ passes, failures, pending }));
    });
  }
};
