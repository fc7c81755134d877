mod corpus;
fn main() {}
