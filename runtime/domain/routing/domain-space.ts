/** The dialling space of one domain, indexed for constant-time look-ups. */
import type { Domain, FeatureCode, Provider, SipUser } from '../directory.ts';
import { RouteTable } from './route-table.ts';

export class DomainSpace {
  domain: Domain;
  readonly routes = new RouteTable();
  readonly #byLogin = new Map<string, SipUser>();
  readonly #byNumber = new Map<string, SipUser>();
  readonly #providers = new Map<string, Provider>();
  readonly #byPrefix = new Map<string, FeatureCode>();
  #prefixLengths: readonly number[] = [];

  constructor(domain: Domain) {
    this.domain = domain;
  }

  putSipUser(sipuser: SipUser): void {
    this.#byLogin.set(sipuser.login, sipuser);
    if (sipuser.phonenumber !== '') this.#byNumber.set(sipuser.phonenumber, sipuser);
  }

  removeSipUser(sipuser: SipUser): void {
    this.#byLogin.delete(sipuser.login);
    this.#byNumber.delete(sipuser.phonenumber);
  }

  putProvider(provider: Provider): void {
    this.#providers.set(provider.code, provider);
  }

  removeProvider(provider: Provider): void {
    this.#providers.delete(provider.code);
  }

  provider(code: string): Provider | undefined {
    return this.#providers.get(code);
  }

  putFeatureCode(featureCode: FeatureCode): void {
    this.#byPrefix.set(featureCode.prefix, featureCode);
    this.#measurePrefixes();
  }

  removeFeatureCode(prefix: string): void {
    this.#byPrefix.delete(prefix);
    this.#measurePrefixes();
  }

  byLogin(login: string): SipUser | undefined {
    return this.#byLogin.get(login);
  }

  byNumber(phonenumber: string): SipUser | undefined {
    return this.#byNumber.get(phonenumber);
  }

  /** The first featurecode of a type, by prefix. */
  featureCode(type: FeatureCode['type']): FeatureCode | undefined {
    const prefixes = [...this.#byPrefix.keys()].toSorted();
    return prefixes.map((prefix) => this.#byPrefix.get(prefix)).find((featureCode) => featureCode?.type === type);
  }

  /** The featurecodes that are prefixes of `dialled`, longest first. */
  *featureCodesOf(dialled: string): Generator<FeatureCode> {
    for (const length of this.#prefixLengths) {
      const featureCode = this.#byPrefix.get(dialled.slice(0, length));
      if (featureCode !== undefined) yield featureCode;
    }
  }

  #measurePrefixes(): void {
    const lengths = new Set([...this.#byPrefix.keys()].map((prefix) => prefix.length));
    this.#prefixLengths = [...lengths].toSorted((a, b) => b - a);
  }
}
