// Appends the URL of every module that a node loads to the file RECORDED_MODULES.
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import process from 'node:process';

const list = process.env.RECORDED_MODULES;
// The launcher may run under an older Node.js.
registerHooks?.({
  load(url, context, next) {
    if (list !== undefined) appendFileSync(list, `${url}\n`);
    return next(url, context);
  },
});
