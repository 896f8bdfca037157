// Appends the URL of every module that a node loads to the file RECORDED_MODULES. Joined scripts are not used: they are no modules.
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import process from 'node:process';

const list = process.env.RECORDED_MODULES;
// The launcher may run under an older Node.js.
registerHooks?.({
  load(url, context, next) {
    if (list !== undefined) appendFileSync(list, `${url}\n`);
    if (!url.endsWith('/runtime/cli/joined.mjs')) return next(url, context);
    return { format: 'module', source: 'export const joinedCommands = () => undefined;', shortCircuit: true };
  },
});
