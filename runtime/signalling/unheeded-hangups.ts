/** The part of a drachtio-srf dialog, and of the application object, that this is about. */
interface Hangable {
  destroy(...args: unknown[]): unknown;
}
type CreateUac = (...args: unknown[]) => unknown;

/**
 * drachtio-fsmrf hangs up on a media server that is late without looking at the outcome (mediaserver.js, `timeoutFn`). When
 * the far end was faster, that outcome is a rejected promise to which nobody listens, and Node ends the process. Dialogs
 * that this application object makes from now on take such a hangup; who waits for the outcome still gets it.
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
  // With `noAck` the library gives something else, which has no dialog yet.
  if (typeof dialog.destroy !== 'function') return dialog;
  const destroy = dialog.destroy.bind(dialog);
  dialog.destroy = (...args) => {
    const outcome = destroy(...args);
    if (outcome instanceof Promise) outcome.catch(() => undefined);
    return outcome;
  };
  return dialog;
}
