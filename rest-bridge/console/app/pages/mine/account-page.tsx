/** The person's password and picture. */
import { words } from '../../words/mine.ts';
import { AvatarCard } from './avatar-card.tsx';
import { PasswordCard } from './password-card.tsx';

export default function AccountPage() {
  return (
    <div class="page">
      <div class="bar">
        <h1>{words('account')}</h1>
      </div>
      <div class="cards">
        <PasswordCard />
        <AvatarCard />
      </div>
    </div>
  );
}
