/**
 * The page with this text between the comments `<!-- name -->` and `<!-- end of name -->`. A page without them is an error.
 */
export const withTable = (page: string, name: string, table: string): string => {
  const place = new RegExp(`(<!-- ${name} -->\\n).*?(\\n<!-- end of ${name} -->)`, "s");
  if (!place.test(page))
    throw new Error(
      `Cannot write the table "${name}": the page has no comments that say where it begins and ends`,
    );
  return page.replace(place, (_all, begin: string, end: string) => `${begin}${table}${end}`);
};
