"""BiasMonkey: do changes of a question that move people move a model (Tjuatja et al. 2024)?"""
