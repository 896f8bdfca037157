/** Patches a rejection of drachtio-fsmrf that ends the process: the parts that it uses. */
interface Hangable {
  destroy(...args: unknown[]): unknown;
}
type CreateUac = (...args: unknown[]) => unknown;

/**
 * drachtio-fsmrf hangs up on a late media server without handling the result (mediaserver.js, `timeoutFn`). When the
 * far end hung up first, the result is an unhandled rejection, and Node ends the process. This patch handles it for
 * dialogs of this application object; callers that await the result still get it.
 */
export function takeUnheededHangups(srf: object): void {
  const agent = srf as { createUAC: CreateUac };
  const createUAC = agent.createUAC.bind(agent);
  agent.createUAC = (...args) => {
    const callback = args.at(-1);
    if (typeof callback === 'function') {
      const done = (err: unknown, dialog?: Hangable): unknown => callback(err, dialog && heeded(dialog));
      return createUAC(...args.slice(0, -1), done);
    }
    return Promise.resolve(createUAC(...args)).then((dialog) => heeded(dialog as Hangable));
  };
}

function heeded(dialog: Hangable): Hangable {
  // With `noAck` the library returns another object, without a dialog yet.
  if (typeof dialog.destroy !== 'function') return dialog;
  const destroy = dialog.destroy.bind(dialog);
  dialog.destroy = (...args) => {
    const outcome = destroy(...args);
    if (outcome instanceof Promise) outcome.catch(() => undefined);
    return outcome;
  };
  return dialog;
}
