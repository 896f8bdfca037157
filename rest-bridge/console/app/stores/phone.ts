/** The softphone of this window. Its code and JsSIP are loaded when it is first used; its calls go on while pages change. */
import { batch, effect, signal } from '@preact/signals';
import { rememberedAccount } from '../../../phone/page/account.js';
import type { Call } from '../../../phone/page/call.js';
import type { Phone } from '../../../phone/page/phone.js';
import { showDrawer } from '../lib/drawer.ts';
import { keep, kept } from '../lib/kept.ts';
import { session } from '../lib/session.ts';
import { language } from '../lib/words.ts';
import { orToast } from '../parts/toasts.tsx';

export const PHONE = 'phone';

/** Id of the user who logged the phone in, for a reload of this window. */
const USED_BY = 'phone-used-by';

/** What the console shows of a call. */
export interface PhoneCall {
  readonly call: Call;
  readonly title: string;
  readonly state: Call['state'];
}

/** Live calls, newest first. */
export const phoneCalls = signal<readonly PhoneCall[]>([]);
/** True while calls can come in. */
export const phoneReady = signal(false);

let loaded: Phone | undefined;
let loading: Promise<Phone> | undefined;

/** The phone, loaded once. @throws TypeError when the node does not answer */
export async function loadPhone(): Promise<Phone> {
  loading ??= load();
  try {
    return await loading;
  } catch (error) {
    loading = undefined;
    throw error;
  }
}

async function load(): Promise<Phone> {
  const { Phone } = await import('../../../phone/page/phone.js');
  const phone = new Phone();
  phone.addEventListener('change', () => follow(phone));
  effect(() => phone.speak(language.value));
  loaded = phone;
  return phone;
}

function follow(phone: Phone): void {
  if (phone.loggedIn) keep(USED_BY, session.value?.user_id ?? '', 'sessionStorage');
  batch(() => {
    phoneReady.value = phone.line?.state === 'registered';
    phoneCalls.value = phone.live.map((call) => ({ call, title: call.title, state: call.state }));
  });
}

/** Calls a number on the softphone, in its drawer. Before the log-in the number waits in its field. */
export function callNumber(number: string): void {
  showDrawer(PHONE);
  orToast(loadPhone().then((phone) => phone.dial(number)));
}

/** Logs the phone in again after a reload of this window, where the browser keeps its password. */
export function resumePhone(): void {
  const { login, domain, password } = rememberedAccount();
  const usedBy = kept(USED_BY, 'sessionStorage');
  if (usedBy === undefined || usedBy !== session.value?.user_id) return;
  // A password that is refused is not tried at the next reload.
  keep(USED_BY, '', 'sessionStorage');
  if (login === undefined || domain === undefined || password === undefined) return;
  orToast(loadPhone().then((phone) => phone.logIn({ login, domain, password })));
}

/** Ends the calls and the registration. */
export function endPhone(): void {
  loaded?.close();
  keep(USED_BY, '', 'sessionStorage');
}

/** The account to offer at the log-in. */
export function ownAccount(): { readonly login: string; readonly domain: string } {
  return { login: session.value?.login ?? '', domain: session.value?.domain ?? '' };
}
