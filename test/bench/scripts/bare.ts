/**
 * The floor of `scripts`: bare isolated-vm in a separate process. For each source from the channel: a new
 * context in a kept isolate, the compiled script, plain data in and out, and a time limit.
 */
import process from 'node:process';
import ivm from 'isolated-vm';

interface Request {
  readonly source: string;
  readonly vars: object;
}

const isolate = new ivm.Isolate({ memoryLimit: 32 });
const compiled = new Map<string, ivm.Script>();

async function run({ source, vars }: Request): Promise<unknown> {
  let script = compiled.get(source);
  if (!script) {
    script = await isolate.compileScript(`(async function (vars) {\n${source}\n})`);
    compiled.set(source, script);
  }
  const context = await isolate.createContext();
  const block = (await script.run(context, { reference: true })) as ivm.Reference<(given: object) => unknown>;
  const value: unknown = await block.apply(undefined, [vars], {
    arguments: { copy: true },
    result: { promise: true, copy: true },
    timeout: 500,
  });
  block.release();
  context.release();
  return value;
}

process.on('message', (request: Request) => {
  void run(request).then((value) => process.send?.({ value }));
});
process.once('disconnect', () => process.exit(0));
