/** E-mail in a simulation: it is shown, and none is sent. */
import type { Mail, MailPort, MailResult } from '../../runs/index.ts';

export class SimulatedMail implements MailPort {
  readonly #note: (what: string) => void;
  #count = 0;

  constructor(note: (what: string) => void) {
    this.#note = note;
  }

  async send({ to, subject }: Mail): Promise<MailResult> {
    this.#count += 1;
    this.#note(`email ${to.join(', ')}: ${subject}`);
    return { id: `<${this.#count}@simulation.invalid>`, accepted: to, refused: [] };
  }
}
