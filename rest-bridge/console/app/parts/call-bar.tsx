/** The live calls of the softphone where its drawer is not at hand: closed, or behind a dialog. */
import { openDrawer, showDrawer } from '../lib/drawer.ts';
import { orToast } from './toasts.tsx';
import { loadPhone, PHONE, type PhoneCall, phoneCalls } from '../stores/phone.ts';
import { words } from '../words/phone.ts';

export function CallBar({ inDialog = false }: { readonly inDialog?: boolean }) {
  const calls = inDialog || openDrawer.value !== PHONE ? phoneCalls.value : [];
  const incoming = calls.filter(({ state }) => state === 'incoming');
  return (
    <>
      <p class="unseen" aria-live="assertive">
        {incoming.map(({ title }) => words('callsYou', { name: title })).join(' ')}
      </p>
      {calls.length > 0 && (
        <section class="call-bar" aria-label={words('calls')}>
          {calls.map((each) => (
            <CallLine key={each.call.id} {...each} />
          ))}
        </section>
      )}
    </>
  );
}

function CallLine({ call, title, state }: PhoneCall) {
  const isIncoming = state === 'incoming';
  const answer = async (): Promise<void> => {
    showDrawer(PHONE);
    await (await loadPhone()).calls?.answer(call);
  };
  return (
    <p>
      <span>{words(isIncoming ? 'callsYou' : 'callWith', { name: title })}</span>
      {isIncoming && (
        <button type="button" class="primary" onClick={() => orToast(answer())}>
          {words('answer')}
        </button>
      )}
      <button type="button" class="danger" onClick={() => call.hangUp()}>
        {words(isIncoming ? 'decline' : 'hangUp')}
      </button>
    </p>
  );
}
