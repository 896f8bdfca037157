/** The registered contacts with their accounts. */
import { createHash } from 'node:crypto';
import type { DomainName } from '../../domain-name/index.ts';
import type { Directory } from '../directory.ts';
import type { StoredBinding } from './contact-table.ts';
import type { PersistentLocation } from './persistent-location.ts';

/** A registered contact. Times are milliseconds since the epoch. */
export interface Registration {
  /** The same for all renewals of the contact. */
  readonly id: string;
  readonly domain: DomainName;
  /** The account: a sipuser, or the provider whose gateway registers here. */
  readonly account: { readonly kind: 'sipuser' | 'provider'; readonly id: string; readonly login: string };
  /** Empty for a provider. */
  readonly phonenumber: string;
  readonly binding: StoredBinding;
}

export class Registrations {
  readonly #directory: Pick<Directory, 'sipUserById' | 'providers'>;
  readonly #location: Pick<PersistentLocation, 'registered' | 'remove'>;

  constructor(
    directory: Pick<Directory, 'sipUserById' | 'providers'>,
    location: Pick<PersistentLocation, 'registered' | 'remove'>,
  ) {
    this.#directory = directory;
    this.#location = location;
  }

  /** The registered contacts of these domains. */
  list(domains: ReadonlySet<DomainName>): readonly Registration[] {
    const gateways = new Map(this.#directory.providers().map((provider) => [provider.id, provider]));
    const found: Registration[] = [];
    for (const binding of this.#location.registered()) {
      const { sipUserId: id } = binding;
      const sipuser = this.#directory.sipUserById(id);
      const gateway = gateways.get(id);
      const domain = sipuser?.domain ?? gateway?.domain;
      if (domain === undefined || !domains.has(domain)) continue;
      const account =
        sipuser === undefined
          ? ({ kind: 'provider', id, login: gateway?.code ?? '' } as const)
          : ({ kind: 'sipuser', id, login: sipuser.login } as const);
      found.push({ id: idOf(binding), domain, account, phonenumber: sipuser?.phonenumber ?? '', binding });
    }
    return found;
  }

  /** Ends a registration. The phone is not told, and may register again. */
  async remove({ binding }: Registration): Promise<void> {
    await this.#location.remove(binding.sipUserId, binding.contact);
  }
}

function idOf({ sipUserId, contact }: StoredBinding): string {
  return createHash('sha256').update(`${sipUserId} ${contact}`).digest('hex').slice(0, 32);
}
