import type { DomainName } from '../../domain-name/index.ts';
import type { DialogPort, LiveDialog } from '../../runs/index.ts';
import { SIMULATED_CALL } from './call-script.ts';

/** Live calls of a simulation: every id is a call between 101 and 102; changes are only noted. */
export class SimulatedDialogs implements DialogPort {
  readonly #note: (what: string) => void;
  readonly #labels = new Map<string, readonly string[]>();
  readonly #end: (dialogid: string) => void;
  readonly #ended = new Set<string>();

  /** @param end ends the simulation's call with this id, if it exists */
  constructor(note: (what: string) => void, end: (dialogid: string) => void = () => undefined) {
    this.#note = note;
    this.#end = end;
  }

  find(domain: DomainName, dialogid: string): LiveDialog | undefined {
    if (this.#ended.has(dialogid)) return undefined;
    const legs = (['a', 'b'] as const).map((side) => {
      const number = side === 'a' ? '101' : '102';
      return {
        side,
        callid: side === 'a' && dialogid === SIMULATED_CALL.dialogid ? SIMULATED_CALL.callid : `${side}@${dialogid}`,
        number,
        uris: [`<sip:${number}@${domain}>`],
        domain,
        allowEvents: ['talk', 'hold'],
        movable: true,
        joinable: true,
      };
    });
    return {
      dialogid,
      status: 'dialog',
      held: false,
      legs,
      bindings: this.#labels.get(dialogid) ?? [],
      setBindings: (labels) => {
        this.#note(`labels of ${dialogid}: ${labels.join(', ')}`);
        this.#labels.set(dialogid, labels);
      },
      sendDtmf: (callid, steps, proto) => {
        const keys = steps.map((step) => (step.kind === 'digits' ? step.digits : ',')).join('');
        this.#note(`dtmf to ${callid} by ${proto}: ${keys}`);
        return true;
      },
      notify: (callid, event) => {
        this.#note(`notify ${callid}: ${event}`);
        return true;
      },
      stopHoldMelody: (mode) => {
        this.#note(`stop hold melody of ${dialogid}: ${mode}`);
        return Promise.resolve(true);
      },
      terminate: () => {
        this.#note(`terminate ${dialogid}`);
        this.#ended.add(dialogid);
        this.#end(dialogid);
      },
    };
  }
}
