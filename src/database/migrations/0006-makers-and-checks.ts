/**
 * When a session's user last gave the password, who made a password link, and who has seen the tokens with which a token was
 * made.
 */
export const makersAndChecks = `
alter table sessions add column password_checked_at TEXT;
alter table password_links add column created_by_id TEXT;
alter table password_links add column made_with_id TEXT;
create table token_origins (
  token_id TEXT not null references authentication_tokens (id) on delete cascade,
  user_id TEXT not null,
  primary key (token_id, user_id)
);
create index token_origins_by_user on token_origins (user_id);
`
