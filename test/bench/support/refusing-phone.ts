import { Registration } from '../../phones/registration.ts';
import { SipEndpoint } from '../../phones/sip/endpoint.ts';
import { Arrivals } from '../../phones/wait.ts';

/** A phone of a demo account that records the time of each INVITE, and refuses it. */
export class RefusingPhone {
  readonly #login: string;
  /** `performance.now()` of each INVITE. */
  readonly invites = new Arrivals<number>('INVITE');
  #endpoint!: SipEndpoint;

  private constructor(login: string) {
    this.#login = login;
  }

  static async open(login: string): Promise<RefusingPhone> {
    const phone = new RefusingPhone(login);
    phone.#endpoint = await SipEndpoint.open('udp', {
      request: (transaction) => {
        if (transaction.request.method === 'INVITE') phone.invites.push(performance.now());
        transaction.respond(486);
      },
      cancelled: () => undefined,
    });
    return phone;
  }

  get contact(): string {
    return `sip:${this.#login}@${this.#endpoint.hostPort}`;
  }

  /** @param server `ip:port` of the registrar */
  async register(server: string): Promise<void> {
    const [address = '', port] = server.split(':');
    const peer = this.#endpoint.peer(address, Number(port));
    const registration = new Registration(this.#endpoint, peer, `sip:${this.#login}@demo.local`, 'demo.local');
    const options = { expires: 600, username: this.#login, password: `demo-${this.#login}`, contact: this.contact };
    const { status } = await registration.register(options);
    if (status !== 200) throw new Error(`${this.#login} cannot register: ${status}`);
  }

  close(): Promise<void> {
    return this.#endpoint.close();
  }
}
