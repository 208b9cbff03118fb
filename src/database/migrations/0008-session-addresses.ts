/** Where somebody signed in. The release before writes null. */
export const sessionAddresses = `
alter table sessions add column address TEXT;
`
