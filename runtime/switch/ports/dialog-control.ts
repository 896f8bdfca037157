import type { DomainName } from '../../domain-name/index.ts';
import type { DialogPort, DtmfProto, LiveDialog, LiveLeg, StopMelodyMode, TailStep } from '../../runs/index.ts';
import type { AdoptedCalls } from '../adopted/adopted-calls.ts';
import { ConferenceLeg } from '../legs/conference-leg.ts';
import type { CallDialog } from '../dialogs/dialog.ts';
import type { DialogBook } from '../dialogs/dialog-book.ts';
import type { Leg } from '../legs/leg.ts';
import { numberOf, urisOf } from '../legs/party.ts';
import { PhoneLeg } from '../legs/phone-leg.ts';
import { sendDigits } from '../legs/send-digits.ts';
import type { SwitchTools } from '../tools.ts';

type FailureLog = Pick<SwitchTools, 'failed'>;

/** The live dialogs as operations and components see and change them. */
export class LiveDialogs implements DialogPort {
  readonly #dialogs: DialogBook;
  readonly #tools: FailureLog;
  readonly #adopted: Pick<AdoptedCalls, 'find'> | undefined;

  /** @param adopted calls of dead nodes; absent on a single node */
  constructor(dialogs: DialogBook, tools: FailureLog, adopted?: Pick<AdoptedCalls, 'find'>) {
    this.#dialogs = dialogs;
    this.#tools = tools;
    this.#adopted = adopted;
  }

  find(domain: DomainName, dialogid: string): LiveDialog | undefined {
    const dialog = this.#dialogs.find(dialogid);
    if (dialog === undefined) return this.#adopted?.find(domain, dialogid);
    return dialog.isOf(domain) ? new DialogHandle(dialog, this.#tools) : undefined;
  }
}

class DialogHandle implements LiveDialog {
  readonly #dialog: CallDialog;
  readonly #tools: FailureLog;

  constructor(dialog: CallDialog, tools: FailureLog) {
    this.#dialog = dialog;
    this.#tools = tools;
  }

  get dialogid(): string {
    return this.#dialog.dialogid;
  }

  get status(): LiveDialog['status'] {
    return this.#dialog.state === 'dialog' ? 'dialog' : 'forking';
  }

  get legs(): readonly LiveLeg[] {
    return this.#dialog.legs.map(({ leg, leg: { callid, party, device }, side }) => ({
      callid,
      side,
      number: numberOf(party),
      uris: urisOf(party),
      domain: party.domain,
      allowEvents: device && [...device.allowEvents],
      movable: leg instanceof PhoneLeg,
      joinable: leg instanceof PhoneLeg || leg instanceof ConferenceLeg,
    }));
  }

  get bindings(): readonly string[] {
    return [...this.#dialog.bindings];
  }

  get held(): boolean {
    return this.#dialog.held;
  }

  setBindings(labels: readonly string[]): void {
    const { bindings } = this.#dialog;
    bindings.clear();
    for (const label of labels) bindings.add(label);
  }

  sendDtmf(callid: string, steps: readonly TailStep[], proto: DtmfProto): boolean {
    const leg = this.#leg(callid);
    return leg !== undefined && this.#dialog.state === 'dialog' && sendDigits(this.#tools, leg, steps, proto);
  }

  notify(callid: string, event: string): boolean {
    return this.#leg(callid)?.device?.notify(event) === true;
  }

  stopHoldMelody(mode: StopMelodyMode): Promise<boolean> {
    return this.#dialog.stopHoldMelody(mode);
  }

  #leg(callid: string): Leg | undefined {
    return this.#dialog.legs.find(({ leg }) => leg.callid === callid)?.leg;
  }

  terminate(): void {
    this.#dialog.end({ by: 'external', status: 487, reason: 'Request Terminated' });
  }
}
