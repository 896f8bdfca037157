/** Patches a rejection of drachtio-fsmrf that ends the process: the parts that it uses. */
interface HangUpDialog {
  destroy(...args: unknown[]): unknown;
}
type CreateUac = (...args: unknown[]) => unknown;

/**
 * drachtio-fsmrf hangs up on a late media server without handling the result (mediaserver.js, `timeoutFn`). When the
 * far end hung up first, the result is an unhandled rejection, and Node ends the process. This patch handles it for
 * dialogs of this application object; callers that await the result still get it.
 */
export function handleFailedHangups(srf: object): void {
  const agent = srf as { createUAC: CreateUac };
  const createUAC = agent.createUAC.bind(agent);
  agent.createUAC = (...args) => {
    const callback = args.at(-1);
    if (typeof callback === 'function') {
      const done = (err: unknown, dialog?: HangUpDialog): unknown => callback(err, dialog && withHandledHangup(dialog));
      return createUAC(...args.slice(0, -1), done);
    }
    return Promise.resolve(createUAC(...args)).then((dialog) => withHandledHangup(dialog as HangUpDialog));
  };
}

function withHandledHangup(dialog: HangUpDialog): HangUpDialog {
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
