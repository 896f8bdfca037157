/** Numbers that the softphone calls by a click. */
import { callNumber } from '../stores/phone.ts';
import { words } from '../words/phone.ts';

export interface NumberProps {
  /** A number, a login or a SIP address. */
  readonly number: string | null | undefined;
  /** In a list, whose rows are one stop of the keyboard: there Enter opens the row, which has the number again. */
  readonly inList?: boolean;
}

/** A number to call. */
export function NumberToCall({ number, inList = false }: NumberProps) {
  if (number === null || number === undefined || number === '') return null;
  const about = words('callNumber', { number });
  return (
    <button
      type="button"
      class="number-to-call"
      aria-label={about}
      title={about}
      tabIndex={inList ? -1 : 0}
      onClick={(event) => {
        event.stopPropagation();
        // The phone would be behind the dialog.
        event.currentTarget.closest('dialog')?.dispatchEvent(new Event('cancel', { cancelable: true }));
        callNumber(number);
      }}
    >
      {number}
    </button>
  );
}

/** Name and number of a party, as `named` of `format.ts` writes them. */
export function PartyToCall({ name, number, inList = false }: NumberProps & { readonly name: string | null }) {
  if (number === null || number === undefined || number === '') return <>{name}</>;
  const toCall = <NumberToCall number={number} inList={inList} />;
  if (name === null || name === '' || name === number) return toCall;
  return (
    <>
      {name} <span class="to-call">({toCall})</span>
    </>
  );
}
