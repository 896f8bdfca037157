/** What an operation would do. */
import { party } from '../../lib/uri.ts';
import { words } from '../../words/operations.ts';

/** Answer to `dry_run=true`. */
export interface DryRunAnswer {
  readonly dialogs: readonly {
    readonly dialogid: string;
    readonly legs: readonly { readonly callid: string; readonly side: string; readonly uris: readonly string[] }[];
  }[];
  readonly calls?: readonly {
    readonly party: string;
    readonly number: string;
    readonly route: string;
    readonly target?: string;
    readonly phones: number;
    readonly contacts?: readonly string[];
    readonly reason?: string;
  }[];
}

export function DryRun({ answer: { dialogs, calls = [] } }: { readonly answer: DryRunAnswer }) {
  return (
    <div class="checked" role="status">
      <p>{words('checked')}</p>
      {calls.length > 0 && (
        <>
          <h3>{words('wouldCall')}</h3>
          <ul>
            {calls.map((each) => (
              <li key={each.party}>
                <strong>{each.party}</strong> {each.number} → {each.route} {each.target},{' '}
                {words('phones', { n: each.phones })}
                {each.reason !== undefined && <span class="mistake"> {each.reason}</span>}
                {each.contacts?.map((contact) => (
                  <code key={contact} class="contact">
                    {contact}
                  </code>
                ))}
              </li>
            ))}
          </ul>
        </>
      )}
      {dialogs.length > 0 && (
        <>
          <h3>{words('touches')}</h3>
          <ul>
            {dialogs.map(({ dialogid, legs }) => (
              <li key={dialogid}>
                <code>{dialogid}</code>{' '}
                {legs.map(({ side, uris }) => `${side}: ${uris.map(party).join(', ')}`).join(' · ')}
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
