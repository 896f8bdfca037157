/** Recording of live calls as scenarios and operations ask for it: finds the call, and makes their errors. */
import type { DomainName } from '../../domain-name/index.ts';
import { ScenarioError } from '../../language/index.ts';
import type { CallRecordingPort } from '../../runs/index.ts';
import { type Recorder, RecordingError, type RecordLayers } from '../../recording/index.ts';
import type { LiveCall } from '../../switch/index.ts';

/** @param find finds a live call by its id */
export function callRecordingPort(
  recorder: Recorder,
  layers: RecordLayers,
  find: (dialogid: string) => LiveCall | undefined,
): CallRecordingPort {
  const legOf = (call: LiveCall, callid: string | undefined) => {
    if (callid === undefined) return undefined;
    const leg = call.legs.find((each) => each.callid === callid);
    if (leg === undefined) throw new RecordingError('callid', 'is no side of the dialog');
    return leg;
  };
  return {
    pause: (domain, dialogid) => applied(() => recorder.pause(dialogid, domain)),
    resume: (domain, dialogid) => applied(() => recorder.resume(visible(find, domain, dialogid), domain)),
    addLayer: ({ domain, dialogid, callid, layer, timeoutMs }) =>
      applied(async () => {
        const call = visible(find, domain, dialogid);
        await layers.add({ call, leg: legOf(call, callid), domain, layer, timeoutMs });
      }),
    removeLayer: (domain, dialogid, layer) =>
      applied(() => layers.remove(visible(find, domain, dialogid), domain, layer)),
    check: (domain, dialogid, change) => {
      const call = visible(find, domain, dialogid);
      try {
        if (change.command === 'add') layers.checkAdd(call, legOf(call, change.callid));
        else if (change.command === 'remove') layers.checkRemove(call, domain, change.layer);
        else recorder.check(change.command, dialogid, domain);
      } catch (error) {
        throw refusal(error);
      }
    },
  };
}

/** A live call of a domain. @throws ScenarioError code `dialog_not_found` */
export function visible(
  find: (dialogid: string) => LiveCall | undefined,
  domain: DomainName,
  dialogid: string,
): LiveCall {
  const call = find(dialogid);
  if (call?.legs.some((leg) => leg.domain === domain) === true) return call;
  throw new ScenarioError('dialog_not_found', 'Dialog not found');
}

async function applied(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw refusal(error);
  }
}

function refusal(error: unknown): unknown {
  if (!(error instanceof RecordingError)) return error;
  const { field, reason, message } = error;
  return new ScenarioError('not_applicable', message, { cause: error, details: { field, reason } });
}
