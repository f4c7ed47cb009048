"""The screens of results: tables, the details of rows, and the tables behind them."""
